package oauthserver

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/text"
)

// requestField names a held request, in forms and in the address that a sign-in
// returns to. It is not called request: that is a parameter of RFC 9101.
const requestField = "request_id"

// held is an authorization request that this browser has open, and its app.
type held struct {
	AuthorizationRequest
	secret secret.Secret
	app    App
}

func (h held) resumeAt() string {
	return authorizePath + "?" + url.Values{requestField: {h.secret.Reveal()}}.Encode()
}

// serveAuthorize judges a new request and holds it, or goes on with one that is
// held, and then asks the person who is signed in.
func (s *Server) serveAuthorize(w http.ResponseWriter, r *http.Request) error {
	now := s.cfg.Clock.Now()
	query, problem := parseAuthorizeQuery(r.URL.RawQuery)
	var request held
	var err error
	if query["client_id"] == nil && query[requestField] != nil {
		request, err = s.resume(r, query, now)
	} else {
		request, err = s.hold(w, r, asking{query, problem, now})
	}
	if err != nil {
		return err
	}
	session, ok, err := s.signedIn(w, r, request.resumeAt())
	if err != nil || !ok {
		return err
	}
	return s.showConsent(w, r, session, request)
}

// asking is a new request, as it came.
type asking struct {
	query   authorizeQuery
	problem error // with the query as a whole
	now     time.Time
}

// hold keeps a valid request for this browser. All of it is judged before anybody
// signs in: client_id, then redirect_uri, then the rest.
func (s *Server) hold(w http.ResponseWriter, r *http.Request, a asking) (held, error) {
	now := a.now
	app, err := s.askingApp(r.Context(), a.query, s.cfg.Proxies.ClientIP(r))
	if err != nil {
		return held{}, err
	}
	request, err := s.judgeRequest(app, a)
	if err != nil {
		return held{}, err
	}
	session, _, err := s.cfg.Host.Session(r)
	if err != nil {
		return held{}, err
	}
	h := held{AuthorizationRequest: request, secret: secret.New(secret.ConsentRequest), app: app}
	h.ID = id.New(id.Authorization, now)
	h.Digest = h.secret.Digest()
	h.Browser, h.Session = s.knowBrowser(w, r).Digest(), sessionDigest(session)
	h.CreatedAt, h.ExpiresAt = now, now.Add(RequestLifetime)
	return h, s.cfg.Store.HoldRequest(r.Context(), h.AuthorizationRequest)
}

// askingApp finds the app of a client_id, if it may connect at all.
func (s *Server) askingApp(ctx context.Context, query authorizeQuery, ip netip.Addr) (App, error) {
	if p := query["client_id"]; p != nil && len(p.values) > 1 {
		return App{}, repeatedParameter("client_id")
	}
	clientID, err := query.one("client_id")
	if err != nil || clientID == "" || len(clientID) > maxClientID || !text.IsVisible(clientID) {
		return App{}, refused(textClient)
	}
	return s.consentApp(ctx, clientID, ip)
}

// consentApp finds the usable app of a client_id. A metadata document is fresh, or is
// fetched for it.
func (s *Server) consentApp(ctx context.Context, clientID string, ip netip.Addr) (App, error) {
	client, err := s.findClient(ctx, clientID, ip, forConsent)
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, errDocument):
		return App{}, refused(textClient)
	case err != nil:
		return App{}, err
	case !client.IsUsable():
		return App{}, refused(textClient)
	}
	app, err := s.cfg.Store.App(ctx, client.ID)
	if errors.Is(err, ErrNotFound) {
		return App{}, refused(textClient)
	}
	return app, err
}

// sameApp returns the app that asked before, as it is now: usable, and with a metadata
// document that is as fresh as that of a new request.
func (s *Server) sameApp(r *http.Request, appID string) (App, error) {
	app, err := s.cfg.Store.App(r.Context(), appID)
	switch {
	case errors.Is(err, ErrNotFound):
		return App{}, refused(textClient)
	case err != nil:
		return App{}, err
	case !app.IsUsable():
		return App{}, refused(textClient)
	case needsNoDocument(app.client(), s.cfg.Clock.Now()):
		return app, nil
	}
	app, err = s.consentApp(r.Context(), app.ClientID, s.cfg.Proxies.ClientIP(r))
	if err == nil && app.ID != appID { // the client_id names another app by now
		return App{}, refused(textClient)
	}
	return app, err
}

// resume goes on with a request that this browser opened before.
func (s *Server) resume(r *http.Request, query authorizeQuery, now time.Time) (held, error) {
	presented, err := query.one(requestField)
	if err != nil {
		return held{}, refused(textRequest)
	}
	return s.openRequest(r, presented, now)
}

// openRequest returns a request that can still be decided, in this browser and
// for an app that may still have what it asked for.
func (s *Server) openRequest(r *http.Request, presented string, now time.Time) (held, error) {
	named, err := secret.Parse(secret.ConsentRequest, presented)
	if err != nil {
		return held{}, refused(textRequest)
	}
	request, err := s.cfg.Store.Request(r.Context(), named.Digest())
	switch {
	case errors.Is(err, ErrNotFound):
		return held{}, refused(textRequest)
	case err != nil:
		return held{}, err
	case !request.UsedAt.IsZero(), !now.Before(request.ExpiresAt):
		return held{}, refused(textRequest)
	}
	ours, err := s.isOpener(r, request)
	switch {
	case err != nil:
		return held{}, err
	case !ours:
		return held{}, refused(textRequest)
	}
	app, err := s.sameApp(r, request.AppID)
	switch {
	case err != nil:
		return held{}, err
	case !s.isRegistered(app, request.RedirectURI):
		return held{}, refused(textRedirect)
	case !s.mayAsk(app, request.Scopes):
		return held{}, refused(textScopes)
	}
	return held{AuthorizationRequest: request, secret: named, app: app}, nil
}
