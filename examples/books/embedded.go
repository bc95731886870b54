package books

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

type embeddedView struct {
	Business, URL, Origin string
	Tokens                string // where session tokens come from
}

// embeddedPath returns the path of an app's embedded page; empty for an app that cannot
// have one.
func embeddedPath(app partner.App) string {
	if app.AppURL == "" || app.Type != partner.Confidential || !app.IsUsable() {
		return ""
	}
	return "/embedded/" + url.PathEscape(app.ClientID)
}

// showEmbedded shows an app inside of ours: its App URL in a frame, which gets
// session tokens by message.
func (s *Site) showEmbedded(w http.ResponseWriter, r *http.Request, p person) error {
	app, err := s.App(r.Context(), r.PathValue("clientId"))
	if err != nil {
		return err
	}
	app = oauthserver.ShownIn(app, oauthserver.Business{ID: p.place.BusinessID, SandboxOf: p.place.SandboxOf})
	_, err = s.books.store.ActiveInstallation(r.Context(), app.ID, p.place.BusinessID)
	if errors.Is(err, partner.ErrNotFound) || p.place.BusinessID == "" {
		return apierror.NotFound("app")
	}
	if err != nil {
		return err
	}
	origin, isPage := oauthserver.WebOrigin(app.AppURL)
	if !isPage || AppURLProblem(app.AppURL) != "" || app.Type != partner.Confidential || !app.IsUsable() {
		return apierror.NotFound("embedded page")
	}
	for _, own := range []string{s.cfg.APIURL, s.cfg.AppURL} {
		if ours, _ := oauthserver.WebOrigin(own); origin == ours {
			return apierror.Forbidden("An app cannot live on our own hosts") // it would share our cookies
		}
	}
	data := embeddedView{
		Business: text.Line(p.place.Business), URL: app.AppURL, Origin: origin,
		Tokens: "/embedded/" + url.PathEscape(app.ClientID) + "/session-token",
	}
	w.Header().Set("Content-Security-Policy", look.Policy+"; frame-src "+origin)
	return s.pages.show(w, r, http.StatusOK, "embedded", View{Title: app.Name, Person: p.user, Data: data})
}

// AppURLProblem returns what is wrong with the URL of an embedded app; empty if it is https, or
// http on loopback.
func AppURLProblem(appURL string) string {
	return oauthserver.RedirectRules{AllowQuery: true}.Problem(appURL)
}

// serveEmbeddedScript serves the script of that page.
func serveEmbeddedScript(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8") // not that of pages
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, r, templateFiles, "templates/embedded.js")
}

// serveSessionToken issues a token for the app in the frame. It is for the
// script of that page, so its failures are JSON.
func (s *Site) serveSessionToken(w http.ResponseWriter, r *http.Request) error {
	p, ok, err := s.person(r)
	if err != nil {
		return err
	}
	if !ok {
		return apierror.Unauthorized()
	}
	if p.place.BusinessID == "" {
		return apierror.Forbidden("no business is chosen")
	}
	token, err := s.SessionToken(r.Context(), oauthserver.NewSessionToken{
		ClientID: r.PathValue("clientId"), BusinessID: p.place.BusinessID, UserID: p.user.ID, SessionID: p.session.ID,
	})
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"sessionToken": token})
}

// SessionToken issues a session token. Its errors say in the standard shape why there is
// none; internal errors are returned as they are.
func (s *Site) SessionToken(ctx context.Context, of oauthserver.NewSessionToken) (string, error) {
	token, err := s.platform.OAuth().IssueSessionToken(ctx, of)
	if err != nil {
		return "", sessionTokenRefusal(err)
	}
	return token, nil
}

// sessionTokenRefusal returns the reason why no session token was issued.
func sessionTokenRefusal(err error) error {
	for refusal, text := range map[error]string{
		oauthserver.ErrPublicApp:     "clientId names a PUBLIC app, which cannot exchange session tokens",
		oauthserver.ErrAppNotUsable:  "the app is suspended or deactivated",
		oauthserver.ErrNotInstalled:  "the app is not installed in this business",
		oauthserver.ErrUserNotActive: "the user is suspended or restricted",
		oauthserver.ErrNotMember:     "the user is not a member of this business",
	} {
		if errors.Is(err, refusal) {
			return apierror.Invalid(text).WithCause(err)
		}
	}
	if errors.Is(err, partner.ErrNotFound) {
		return apierror.NotFound("app")
	}
	return err
}
