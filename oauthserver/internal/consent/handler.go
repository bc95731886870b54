package consent

import (
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/muxes"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// Paths on the app host.
const (
	authorizePath = core.AuthorizePath
	devicePath    = core.DevicePath
	iconPath      = "/oauth/icon.svg"
)

// Handler serves the pages of the app host: /oauth/authorize, where a person
// connects an app, /device, where they do so for a device, and /settings/apps, where
// they disconnect apps. Every response is a page with a strict content policy, or a
// redirect.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range s.pageRoutes() {
		mux.Handle(pattern, s.errors.Page(s.showFailure, serve))
	}
	served := muxes.WithErrors(mux, func(w http.ResponseWriter, r *http.Request, err error) {
		s.errors.WritePage(w, r, err, s.showFailure)
	})
	sameSite := s.crossOriginProtection()
	return s.withPageHeaders(s.errors.Page(s.showFailure, func(w http.ResponseWriter, r *http.Request) error {
		if err := s.limitPages(r); err != nil {
			return err
		}
		if sameSite.Check(r) != nil {
			return errOrigin
		}
		served.ServeHTTP(w, r)
		return nil
	}))
}

func (s *Server) pageRoutes() map[string]apierror.Handler {
	routes := map[string]apierror.Handler{
		"GET " + authorizePath:  s.serveAuthorize,
		"POST " + authorizePath: s.serveDecision,
		"GET " + devicePath:     s.serveDeviceForm,
		"POST " + devicePath:    s.serveDevice,
		"GET " + iconPath:       serveIcon,
	}
	maps.Copy(routes, s.connectedAppsRoutes())
	maps.Copy(routes, s.customConnectionRoutes())
	return routes
}

// Patterns returns the methods and paths that [Server.Handler] serves, sorted.
func (s *Server) Patterns() []string { return slices.Sorted(maps.Keys(s.pageRoutes())) }

// limitPages counts everything that one address asks of the pages.
func (s *Server) limitPages(r *http.Request) error {
	result, err := s.cfg.Limiter.Check(r.Context(), s.cfg.Clock.Now(), ratelimit.Request{
		Counters: ratelimit.Counters{s.cfg.Limits.DefaultApp(s.cfg.Proxies.ClientIP(r))},
	})
	return apierror.Limited(result.Allowed, result.Wait, err)
}

// crossOriginProtection lets forms of our two hosts pass, and what no browser
// sent.
func (s *Server) crossOriginProtection() *http.CrossOriginProtection {
	protection := http.NewCrossOriginProtection()
	for _, origin := range []string{s.apiOrigin, s.appOrigin} {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			panic(err) // New has checked both
		}
	}
	return protection
}

// showFailure renders a refusal, in the form that it is about if it is about one.
func (s *Server) showFailure(w http.ResponseWriter, r *http.Request, f apierror.Failure) error {
	if form, ok := errors.AsType[deviceFormProblem](f.Err); ok {
		return s.cfg.Pages.DeviceForm(w, r, pages.DeviceFormView{
			Frame: s.frame(r, refusalOf(f.Err).visitor), UserCode: form.typed, Problem: f.Message, ProblemCode: pageError(f), Action: devicePath,
		})
	}
	return s.cfg.Pages.Error(w, r, s.errorView(r, f))
}

// signedIn returns the session. If no user is signed in, it has written the response and
// reports false.
func (s *Server) signedIn(w http.ResponseWriter, r *http.Request, returnTo string) (identity.Session, bool, error) {
	session, ok, err := s.cfg.Host.Session(r)
	if err != nil {
		return identity.Session{}, false, err
	}
	if !ok {
		s.sendToSignIn(w, r, returnTo)
		return identity.Session{}, false, nil
	}
	return session, true, nil
}

// sendToSignIn lets the host respond to a user who is not signed in.
func (s *Server) sendToSignIn(w http.ResponseWriter, r *http.Request, returnTo string) {
	dropPageHeaders(w.Header())
	s.cfg.Host.SignIn(w, r, returnTo)
}

// serveIcon sends the icon of the pages.
func serveIcon(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "public, max-age=86400")
	_, err := w.Write(look.Icon())
	return err
}
