package oauthserver

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
)

// nonceKey is where the context of a request keeps its page's nonce.
type nonceKey struct{}

// withPageHeaders sets what every answer of the app host carries: no cache keeps
// it, nobody frames it, no address leaks from it, no script runs in it.
func withPageHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nonce := rand.Text()
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Content-Security-Policy", contentPolicy(nonce, "'self'"))
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

// nonce is what the style elements of this request's page must carry.
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
	return "default-src 'none'; style-src 'nonce-" + nonce + "'; form-action " + formAction +
		"; frame-ancestors 'none'; base-uri 'none'"
}

// formTargets are the sources of form-action for a redirect URI.
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
	case u.Host != "":
		return u.Host
	}
	return u.Scheme
}
