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
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
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

// serveAuthorize checks a new request and holds it, or continues one that is held, and then
// shows the consent page to the user who is signed in.
func (s *Server) serveAuthorize(w http.ResponseWriter, r *http.Request) error {
	now := s.cfg.Clock.Now()
	query, problem := parseAuthorizeQuery(r.URL.RawQuery)
	var request held
	var err error
	if query["client_id"] == nil && query[requestField] != nil {
		presented, problem := query.one(requestField)
		if problem != nil {
			return refused(textRequest)
		}
		request, err = s.openRequest(r, presented, now) // which this browser opened before
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
	return about(request.app, visitor{session, request.resumeAt()}, s.showConsent(w, r, session, request))
}

// asking is a new request before it is checked.
type asking struct {
	query   authorizeQuery
	problem error // with the query as a whole
	now     time.Time
}

// hold stores a valid request for this browser. The request is checked before sign-in:
// client_id, then redirect_uri, then the rest.
func (s *Server) hold(w http.ResponseWriter, r *http.Request, a asking) (held, error) {
	now := a.now
	app, err := s.askingApp(r.Context(), a.query, s.cfg.Proxies.ClientIP(r))
	if err != nil {
		return held{}, err
	}
	request, err := s.checkRequest(app, a)
	if err != nil {
		return held{}, about(app, visitor{}, err)
	}
	session, _, err := s.cfg.Host.Session(r)
	if err != nil {
		return held{}, err
	}
	h := held{AuthorizationRequest: request, secret: secret.New(secret.ConsentRequest), app: app}
	h.ID = id.New(id.Authorization, now)
	h.Digest = h.secret.Digest()
	h.Browser, h.Session = s.knowBrowser(w, r).Digest(), sessionDigest(session)
	h.CreatedAt, h.ExpiresAt = now, now.Add(s.cfg.Lifetimes.Request)
	return h, s.cfg.Store.HoldRequest(r.Context(), h.AuthorizationRequest)
}

// askingApp returns the app of the client_id parameter, if it may be connected at all.
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

// consentApp returns the usable app of a client_id. A metadata document that is not fresh is
// fetched.
func (s *Server) consentApp(ctx context.Context, clientID string, ip netip.Addr) (App, error) {
	client, err := s.findClient(ctx, clientID, ip, forConsent)
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, document.ErrUnavailable):
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

// sameApp returns the app of a held request as it is now: usable, and with a fresh metadata
// document.
func (s *Server) sameApp(r *http.Request, appID string) (App, error) {
	app, err := s.cfg.Store.App(r.Context(), appID)
	switch {
	case errors.Is(err, ErrNotFound):
		return App{}, refused(textClient)
	case err != nil:
		return App{}, err
	case !app.IsUsable():
		return App{}, refused(textClient)
	case s.documents.isCurrent(app.client(), s.cfg.Clock.Now()):
		return app, nil
	}
	app, err = s.consentApp(r.Context(), app.ClientID, s.cfg.Proxies.ClientIP(r))
	if err == nil && app.ID != appID { // the client_id names another app by now
		return App{}, refused(textClient)
	}
	return app, err
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
	}
	ours, err := s.isOpener(r, request)
	switch {
	case err != nil:
		return held{}, err
	case !ours:
		return held{}, refused(textRequest)
	case !request.UsedAt.IsZero(), !now.Before(request.ExpiresAt):
		return held{}, s.closedRequest(r.Context(), request)
	}
	app, err := s.sameApp(r, request.AppID)
	switch {
	case err != nil:
		return held{}, err
	case !s.isRegistered(app, request.RedirectURI):
		return held{}, about(app, visitor{}, refused(textRedirect))
	case !s.mayAsk(app, request.Scopes):
		return held{}, about(app, visitor{}, refused(textScopes))
	}
	return held{AuthorizationRequest: request, secret: named, app: app}, nil
}

// closedRequest is the page about a request that was decided or has expired. It names the app
// to the browser that opened the request.
func (s *Server) closedRequest(ctx context.Context, request AuthorizationRequest) error {
	app, err := s.cfg.Store.App(ctx, request.AppID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return about(app, visitor{}, refused(textRequest))
}
