package consent

import (
	"net/http"
	"strings"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/storage"
)

// The cookie that identifies a browser. The session's cookie cannot do so: it changes if a
// user signs in between opening a request and deciding it.
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

// browser returns the value of the request's cookie; zero if it has no valid one.
func (s *Server) browser(r *http.Request) secret.Secret {
	for _, cookie := range r.CookiesNamed(s.browserCookieName()) {
		if found, err := secret.Parse(secret.Browser, cookie.Value); err == nil {
			return found
		}
	}
	return secret.Secret{}
}

// knowBrowser is browser, and sets the cookie of a browser without one.
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

// sessionDigest identifies a session. Sessions without an id are one for each user.
func sessionDigest(session identity.Session) storage.Digest {
	if session.ID == "" {
		return secret.DigestOf("sessions of user " + session.UserID)
	}
	return secret.DigestOf("session " + session.ID)
}

// isOpener reports whether the authorization request was opened by the same browser or in the
// same session.
func (s *Server) isOpener(r *http.Request, request oauthstore.AuthorizationRequest) (bool, error) {
	if browser := s.browser(r); !browser.IsZero() && browser.Digest().Equal(request.Browser) {
		return true, nil
	}
	session, ok, err := s.cfg.Host.Session(r)
	if err != nil || !ok || session.ID == "" {
		return false, err
	}
	return sessionDigest(session).Equal(request.Session), nil
}
