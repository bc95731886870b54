package consent

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
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// requestField names a stored request, in forms and in the address that a sign-in
// returns to. It is not called request: that is a parameter of RFC 9101.
const requestField = "request_id"

// storedRequest is an authorization request that this browser has open, and its app.
type storedRequest struct {
	oauthstore.AuthorizationRequest
	secret secret.Secret
	app    partner.App
}

func (h storedRequest) resumeAt() string {
	return authorizePath + "?" + url.Values{requestField: {h.secret.Reveal()}}.Encode()
}

func (h storedRequest) wish() wish { return wish{redirectURI: h.RedirectURI, scopes: h.Scopes} }

// serveAuthorize checks a new request, or continues one, and shows the consent page to the
// user who is signed in. Nothing is stored for a user who is not signed in: the request goes
// through sign-in in the address that the user returns to.
func (s *Server) serveAuthorize(w http.ResponseWriter, r *http.Request) error {
	now := s.cfg.Clock.Now()
	query, problem := parseAuthorizeQuery(r.URL.RawQuery)
	if query["client_id"] == nil && query[requestField] != nil {
		return s.serveStored(w, r, query, now)
	}
	a, err := unstoredRequest{raw: r.URL.RawQuery, query: query, problem: problem, openedAt: now}, error(nil)
	if query["client_id"] == nil && query[sealedField] != nil {
		a, err = s.openSealed(r, query)
	}
	if err != nil {
		return err
	}
	return s.serveUnstored(w, r, a, now)
}

// serveStored shows the consent page of a request that this browser opened before.
func (s *Server) serveStored(w http.ResponseWriter, r *http.Request, query authorizeQuery, now time.Time) error {
	presented, problem := query.one(requestField)
	if problem != nil {
		return errRequest
	}
	request, err := s.openRequest(r, presented, now)
	if err != nil {
		return err
	}
	session, ok, err := s.signedIn(w, r, request.resumeAt())
	if err != nil || !ok {
		return err
	}
	return about(request.app, visitor{session, request.resumeAt()}, s.showConsent(w, r, session, request))
}

// unstoredRequest is a request that is not stored.
type unstoredRequest struct {
	raw      string // the query as it was received
	query    authorizeQuery
	problem  error // with the query as a whole
	openedAt time.Time
	sealed   *sealedRequest // nil: the request is new
}

// serveUnstored checks a request and sends the user to sign in, or stores the request and shows
// the consent page. The request is checked before sign-in: client_id, then redirect_uri, then
// the rest.
func (s *Server) serveUnstored(w http.ResponseWriter, r *http.Request, a unstoredRequest, now time.Time) error {
	app, err := s.requestingApp(r.Context(), a.query, s.cfg.Proxies.ClientIP(r))
	if err != nil {
		return err
	}
	if !now.Before(a.openedAt.Add(s.cfg.Lifetimes.Request)) {
		return about(app, visitor{}, errRequest)
	}
	request, err := s.checkRequest(app, a)
	if err != nil {
		return about(app, visitor{}, err)
	}
	browser := s.knowBrowser(w, r)
	session, ok, err := s.cfg.Host.Session(r)
	switch {
	case err != nil:
		return err
	case !ok:
		returnTo, err := s.returnTo(browser, a)
		if err != nil {
			return err
		}
		s.sendToSignIn(w, r, returnTo)
		return nil
	}
	h := storedRequest{AuthorizationRequest: request, secret: a.secret(), app: app}
	h.ID, h.Digest = id.New(id.Authorization, now), h.secret.Digest()
	h.Browser, h.Session = browser.Digest(), sessionDigest(session)
	h.CreatedAt, h.ExpiresAt = a.openedAt, a.openedAt.Add(s.cfg.Lifetimes.Request)
	if err := s.cfg.Store.HoldRequest(r.Context(), h.AuthorizationRequest); err != nil {
		return err
	}
	if a.sealed != nil { // the page was reloaded, perhaps after a decision
		if h, err = s.openRequest(r, h.secret.Reveal(), now); err != nil {
			return err
		}
	}
	return about(app, visitor{session, h.resumeAt()}, s.showConsent(w, r, session, h))
}

// requestingApp returns the app of the client_id parameter, if it may be connected at all.
func (s *Server) requestingApp(ctx context.Context, query authorizeQuery, ip netip.Addr) (partner.App, error) {
	if p := query["client_id"]; p != nil && len(p.values) > 1 {
		return partner.App{}, repeatedParameter("client_id")
	}
	clientID, err := query.one("client_id")
	if err != nil || clientID == "" || len(clientID) > maxClientID || !text.IsVisible(clientID) {
		return partner.App{}, errClientID
	}
	return s.consentApp(ctx, clientID, ip)
}

// consentApp returns the usable app of a client_id. A metadata document that is not fresh is
// fetched.
func (s *Server) consentApp(ctx context.Context, clientID string, ip netip.Addr) (partner.App, error) {
	client, err := s.FindClient(ctx, clientID, ip, core.ForConsent)
	switch {
	case errors.Is(err, partner.ErrNotFound), errors.Is(err, document.ErrUnavailable):
		return partner.App{}, errClientID
	case err != nil:
		return partner.App{}, err
	case !client.IsUsable():
		return partner.App{}, errClientID
	}
	app, err := s.cfg.Store.App(ctx, client.ID)
	if errors.Is(err, partner.ErrNotFound) {
		return partner.App{}, errClientID
	}
	return app, err
}

// sameApp returns the app of a stored request as it is now: usable, and with a fresh metadata
// document.
func (s *Server) sameApp(r *http.Request, appID string) (partner.App, error) {
	app, err := s.cfg.Store.App(r.Context(), appID)
	switch {
	case errors.Is(err, partner.ErrNotFound):
		return partner.App{}, errClientID
	case err != nil:
		return partner.App{}, err
	case !app.IsUsable():
		return partner.App{}, errClientID
	case s.documents.IsCurrent(document.ClientOf(app), s.cfg.Clock.Now()):
		return app, nil
	}
	app, err = s.consentApp(r.Context(), app.ClientID, s.cfg.Proxies.ClientIP(r))
	if err == nil && app.ID != appID { // the client_id names another app by now
		return partner.App{}, errClientID
	}
	return app, err
}

// openRequest returns a request that can still be decided, in this browser and
// for an app that may still have what it asked for.
func (s *Server) openRequest(r *http.Request, presented string, now time.Time) (storedRequest, error) {
	request, err := s.findRequest(r, oauthstore.PurposeConnect, presented, now)
	switch {
	case err != nil:
		return storedRequest{}, err
	case !s.isRegistered(request.app, request.RedirectURI):
		return storedRequest{}, about(request.app, visitor{}, errRedirect)
	case !s.mayAsk(request.app, request.Scopes):
		return storedRequest{}, about(request.app, visitor{}, errScopes)
	}
	return request, nil
}

// findRequest returns a request for a purpose that can still be decided, in this browser and
// for an app that is usable.
func (s *Server) findRequest(r *http.Request, purpose oauthstore.RequestPurpose, presented string, now time.Time) (storedRequest, error) {
	named, err := secret.Parse(secret.ConsentRequest, presented)
	if err != nil {
		return storedRequest{}, errRequest
	}
	request, err := s.cfg.Store.Request(r.Context(), named.Digest())
	switch {
	case errors.Is(err, partner.ErrNotFound), err == nil && request.Purpose != purpose:
		return storedRequest{}, errRequest
	case err != nil:
		return storedRequest{}, err
	}
	ours, err := s.isOpener(r, request)
	switch {
	case err != nil:
		return storedRequest{}, err
	case !ours:
		return storedRequest{}, errRequest
	case !request.UsedAt.IsZero(), !now.Before(request.ExpiresAt):
		return storedRequest{}, s.closedRequest(r.Context(), request)
	}
	app, err := s.sameApp(r, request.AppID)
	if err != nil {
		return storedRequest{}, err
	}
	return storedRequest{AuthorizationRequest: request, secret: named, app: app}, nil
}

// closedRequest is the page about a request that was decided or has expired. It names the app
// to the browser that opened the request.
func (s *Server) closedRequest(ctx context.Context, request oauthstore.AuthorizationRequest) error {
	app, err := s.cfg.Store.App(ctx, request.AppID)
	if err != nil && !errors.Is(err, partner.ErrNotFound) {
		return err
	}
	return about(app, visitor{}, errRequest)
}
