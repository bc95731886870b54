package sandbox

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/header"
	"github.com/partnerkit/partnerkit/internal/muxes"
)

// development serves /dev: what partner authors need to see every state without
// waiting for it.
func (s *server) development() http.Handler {
	mux := &s.routes.dev
	for pattern, call := range map[string]apierror.Handler{
		"GET /dev/routes":                       s.devRoutes,
		"GET /dev/openapi.json":                 s.devOperatorDescription,
		"GET /dev/notifications":                s.devNotifications,
		"GET /dev/clock":                        s.devReadClock,
		"POST /dev/clock":                       s.devMoveClock,
		"POST /dev/sessions":                    s.devSignIn,
		"POST /dev/permissions":                 s.devPermissions,
		"POST /dev/memberships":                 s.devMembership,
		"POST /dev/users/{id}/status":           s.devUserStatus,
		"POST /dev/apps/{clientId}/status":      s.devAppStatus,
		"POST /dev/apps/{clientId}/reviewed":    s.devAppReviewed,
		"POST /dev/apps/{clientId}/listing":     s.devListing,
		"POST /dev/apps/{clientId}/scopes":      s.devAppScopes,
		"POST /dev/apps/{clientId}/version":     s.devAppVersion,
		"POST /dev/installations/uninstall":     s.devUninstall,
		"POST /dev/installations/revoke-access": s.devRevokeAccess,
		"POST /dev/installations/take-over":     s.devTakeOver,
		"POST /dev/installations/scopes":        s.devInstallationScopes,
		"POST /dev/consents/revoke":             s.devRevokeConsent,
		"POST /dev/events":                      s.devRecordEvent,
		"POST /dev/session-tokens":              s.devSessionToken,
		"POST /dev/keys/rotate":                 s.devRotateKey,
		"POST /dev/faults":                      s.devAddFault,
		"GET /dev/faults":                       s.devFaults,
		"DELETE /dev/faults":                    s.devRemoveFaults,
	} {
		mux.Handle(pattern, s.errors.Standard(call))
	}
	routes := muxes.WithErrors(&mux.mux, s.errors.WriteStandard)
	return s.errors.Standard(func(w http.ResponseWriter, r *http.Request) error {
		if err := s.guardDev(r); err != nil {
			return err
		}
		w.Header().Set("Cache-Control", "no-store")
		routes.ServeHTTP(w, r)
		return nil
	})
}

// guardDev allows only programs on this machine: no web page, under any host name, and no
// proxy.
func (s *server) guardDev(r *http.Request) error {
	if !isLoopback((&url.URL{Host: r.Host}).Hostname()) { // without port and brackets
		return apierror.Forbidden("/dev is for loopback: the Host header must be localhost, 127.0.0.1 or [::1]")
	}
	for name := range r.Header {
		if name == "Forwarded" || strings.HasPrefix(name, "X-Forwarded-") {
			return apierror.Forbidden("/dev is not served through a proxy: the request has the header " + name)
		}
	}
	if !s.isOwnOrigin(r) {
		return apierror.Forbidden("/dev is not served to web pages of another origin")
	}
	hasType := len(r.Header.Values("Content-Type")) > 0
	if hasType && header.MediaType(r.Header) != "application/json" || !hasType && r.ContentLength != 0 {
		return apierror.UnsupportedMediaType("application/json")
	}
	return nil
}

// isOwnOrigin reports whether no web page, or one of ours, sent the request.
func (s *server) isOwnOrigin(r *http.Request) bool {
	if origins := r.Header.Values("Origin"); len(origins) > 0 {
		return len(origins) == 1 && (origins[0] == s.apiURL || origins[0] == s.appURL)
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	return false
}

// done responds to a call that has nothing to tell.
func done(w http.ResponseWriter) error {
	return apierror.WriteJSON(w, http.StatusOK, struct{}{})
}
