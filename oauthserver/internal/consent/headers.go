package consent

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
)

// nonceKey is the context key of a page's nonce.
type nonceKey struct{}

// withPageHeaders sets the headers of every response of the app host: no caching, no
// framing, no referrer, no scripts.
func (s *Server) withPageHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nonce := rand.Text()
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Content-Security-Policy", contentPolicy(nonce, "'self'"))
		if s.languages.VariesByHeader() {
			h.Add("Vary", "Accept-Language")
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), nonceKey{}, nonce)))
	})
}

// dropPageHeaders takes back what was meant for pages of ours: the host's sign-in
// page has its own scripts and styles.
func dropPageHeaders(h http.Header) {
	for _, name := range []string{"Content-Type", "X-Frame-Options", "Content-Security-Policy"} {
		h.Del(name)
	}
}

// visitor is the person who sees a page; zero if the page does not name them.
type visitor struct {
	session identity.Session
	page    string // a path with a query that shows the page again; empty: none does
}

// frame returns the data that all pages share.
func (s *Server) frame(r *http.Request, v visitor) pages.Frame {
	shown := s.themes.For(r)
	return pages.Frame{
		Service: s.cfg.Service, Nonce: nonce(r), Theme: shown, Language: s.languages.Choose(r), Person: text.Line(v.session.DisplayName),
		Icon: iconPath, SwitchAccount: returning(shown.SwitchAccount, v.page),
	}
}

// returning returns the address of a page of the host that leads on to returnTo. It is empty if
// either of the two is.
func returning(page, returnTo string) string {
	u, err := url.Parse(page)
	if err != nil || page == "" || returnTo == "" {
		return ""
	}
	query := u.Query()
	query.Set("return_to", returnTo)
	u.RawQuery = query.Encode()
	return u.String()
}

// nonce returns the nonce of the style elements of this request's page.
func nonce(r *http.Request) string {
	value, _ := r.Context().Value(nonceKey{}).(string)
	return value
}

// allowRedirect widens the policy of a page whose form ends in a redirect to an
// app. Chromium applies form-action to every hop that follows a form post, and a
// partner's callback may well send the browser on to another of its hosts: so it
// names schemes, not origins.
func allowRedirect(h http.Header, r *http.Request, redirectURI string) {
	h.Set("Content-Security-Policy", contentPolicy(nonce(r), formTargets(redirectURI)))
}

func contentPolicy(nonce, formAction string) string {
	return "default-src 'none'; style-src 'nonce-" + nonce + "'; img-src 'self'; font-src 'self'; form-action " + formAction +
		"; frame-ancestors 'none'; base-uri 'none'"
}

// formTargets returns the sources of form-action for a redirect URI.
func formTargets(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	switch {
	case err != nil || u.Scheme == "":
		return "'self'"
	case u.Scheme == "http": // on loopback; what follows may be anywhere
		return "'self' http: https:"
	}
	return "'self' " + strings.ToLower(u.Scheme) + ":" // a scheme has letters, digits, + - . only
}

// returnsTo says in a word where a redirect URI leads.
func returnsTo(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	switch {
	case err != nil:
		return ""
	case u.Scheme == "https" || u.Scheme == "http":
		return u.Host
	}
	return u.Scheme // the host of a private-use URI is not a place
}
