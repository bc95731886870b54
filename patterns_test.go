package partnerkit_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/partnertest"
)

// What Patterns lists is served, each by its method, and nothing is missing of what
// the features have.
func TestPatternsAreServed(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Host, cfg.Developers = somebody{partnertest.NewHost()}, somebody{partnertest.NewHost()}
	cfg.Routes = []guard.Route{{Pattern: "GET /invoices", Scope: guard.AnyScope, SessionsAllowed: true, Handler: guard.HTTP(http.HandlerFunc(teapot))}}
	p := platform(t, cfg)
	for _, want := range []string{"POST /oauth/token", "GET /.well-known/jwks.json", "GET /invoices", "GET /events/{id}", "GET /developer/apps/{appId}"} {
		if !slices.Contains(p.APIPatterns(), want) {
			t.Errorf("APIPatterns has no %s: %q", want, p.APIPatterns())
		}
	}
	if got := len(p.AppPatterns()); got != 10 {
		t.Errorf("AppPatterns = %q, want 10", p.AppPatterns())
	}
	for name, host := range map[string]struct {
		handler  http.Handler
		patterns []string
	}{"API": {p.API(), p.APIPatterns()}, "app": {p.App(), p.AppPatterns()}} {
		for _, pattern := range host.patterns {
			method, path, _ := strings.Cut(pattern, " ")
			w := httptest.NewRecorder()
			host.handler.ServeHTTP(w, httptest.NewRequest(method, "http://x"+path, nil))
			if w.Code == http.StatusMethodNotAllowed || strings.Contains(w.Body.String(), "no such endpoint") {
				t.Errorf("%s host, %s: %d %s", name, pattern, w.Code, w.Body)
			}
		}
	}
}
