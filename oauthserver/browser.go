package oauthserver

import (
	"net/http"
	"strings"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// The cookie that tells one browser from another. It is not the session's, which
// changes when somebody signs in between opening a request and deciding it.
const (
	browserCookie       = "partnerkit_browser"
	secureBrowserCookie = "__Host-" + browserCookie // no other host and no http page can set it
)

func (s *Server) isSecure() bool { return strings.HasPrefix(s.appOrigin, "https://") }

func (s *Server) browserCookieName() string {
	if s.isSecure() {
		return secureBrowserCookie
	}
	return browserCookie
}

// browser is what the request's cookie says; zero when it has none that we made.
func (s *Server) browser(r *http.Request) secret.Secret {
	for _, cookie := range r.CookiesNamed(s.browserCookieName()) {
		if found, err := secret.Parse(secret.Browser, cookie.Value); err == nil {
			return found
		}
	}
	return secret.Secret{}
}

// knowBrowser is browser, and gives one without a cookie its own.
func (s *Server) knowBrowser(w http.ResponseWriter, r *http.Request) secret.Secret {
	if found := s.browser(r); !found.IsZero() {
		return found
	}
	made := secret.New(secret.Browser)
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever the app host is; on loopback it may be http
		Name: s.browserCookieName(), Value: made.Reveal(), Path: "/",
		HttpOnly: true, Secure: s.isSecure(), SameSite: http.SameSiteLaxMode,
	})
	return made
}

// sessionDigest tells sessions apart; zero for nobody's.
func sessionDigest(session identity.Session) Digest {
	if session.ID == "" {
		return Digest{}
	}
	return secret.DigestOf("session " + session.ID)
}

// isOpener reports whether a request came from here: the same browser, which
// stays the same when somebody signs in, or the session that opened it.
func (s *Server) isOpener(r *http.Request, request AuthorizationRequest) (bool, error) {
	if browser := s.browser(r); !browser.IsZero() && browser.Digest().Equal(request.Browser) {
		return true, nil
	}
	session, ok, err := s.cfg.Host.Session(r)
	if err != nil || !ok || session.ID == "" {
		return false, err
	}
	return sessionDigest(session).Equal(request.Session), nil
}
