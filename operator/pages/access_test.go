package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/operator/pages"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// Every page and form is denied to every other kind of caller: they get what they get from
// a path that does not exist.
func TestCallers(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.Connect(partnertest.ConnectOptions{})
	own, err := pages.New(pages.Config{Operator: h.Operator()})
	if err != nil {
		t.Fatal(err)
	}
	h.done(olga, "/operator/users/usr_otto/status", url.Values{"status": {"SUSPENDED"}, "reason": {"left"}})
	patterns := append(own.Patterns(), "PUT /operator/apps", "GET /operator/nothing", "GET /operator/assets/style.css")
	for _, pattern := range patterns {
		what := strings.NewReplacer("{appId}", app.ID, "{userId}", ada, "{documentId}", "tdh_1", "{assetId}", "ast_1").Replace(pattern)
		method, _, _ := strings.Cut(what, " ")
		t.Run("OPS-01 "+pattern, func(t *testing.T) {
			for _, caller := range []struct{ name, userID, token string }{
				{"no credentials", "", ""},
				{"app token", "", app.AccessToken},
				{"app token beside an operator's session", olga, app.AccessToken},
				{"console token", "", "pk_ct_unknown"},
				{"developer's session", ada, ""},
				{"session of a user whom the host does not know", "usr_nobody", ""},
				{"session of a suspended operator", otto, ""},
			} {
				var headers []string
				if caller.token != "" {
					headers = []string{"Authorization", "Bearer " + caller.token}
				}
				unknown := h.page(caller.userID, method+" /operators", nil, headers...)
				got := h.page(caller.userID, what, nil, headers...)
				if got.Status != http.StatusNotFound || got.Status != unknown.Status || got.Body != unknown.Body || got.Header.Get("Content-Type") != unknown.Header.Get("Content-Type") {
					t.Errorf("%s: %s; an unknown path: %s", caller.name, got, unknown)
				}
			}
		})
	}
}

// The host's handler for unknown paths serves users who are not operators, and counts each
// request once.
func TestOtherwise(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *partnerkit.Config) {
		c.AppRoutes = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "the host's own page", http.StatusNotFound)
		})
		c.Limits.DefaultPerIP = ratelimit.Limit{Count: 3, Window: time.Minute}
	})
	for range 3 {
		if got := h.page(ada, "GET /operator", nil).Want(http.StatusNotFound); !strings.Contains(got.Body, "the host's own page") {
			t.Errorf("OPS-01 %s", got)
		}
	}
	h.page(ada, "GET /operator", nil).Want(http.StatusTooManyRequests) // LIM-05
}

// Operators count toward the default limit, on both hosts.
func TestLimit(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *partnerkit.Config) { c.Limits.DefaultPerIP = ratelimit.Limit{Count: 3, Window: time.Minute} })
	for range 3 {
		h.page(olga, "GET /operator", nil).Want(http.StatusOK)
		h.api(olga, "GET /operator/figures", "").Want(http.StatusOK)
	}
	if got := h.page(olga, "GET /operator", nil).Want(http.StatusTooManyRequests); got.Header.Get("Retry-After") == "" {
		t.Errorf("LIM-05 %s", got)
	}
	if got := h.api(olga, "GET /operator/figures", "").Want(http.StatusTooManyRequests); got.Header.Get("Retry-After") == "" {
		t.Errorf("LIM-05 %s", got)
	}
}

// A page of another site cannot make an operator's browser decide anything.
func TestCrossSite(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.newApp("Sync")
	own, err := pages.New(pages.Config{Operator: h.Operator()})
	if err != nil {
		t.Fatal(err)
	}
	forms := url.Values{"status": {"SUSPENDED"}, "reason": {"x"}, "host": {"agent.example"}, "confirm": {ada}}
	for _, pattern := range own.Patterns() {
		if !strings.HasPrefix(pattern, "POST ") {
			continue
		}
		what := strings.NewReplacer("{appId}", app, "{userId}", ada, "{documentId}", "tdh_1").Replace(pattern)
		h.page(olga, what, forms, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site").Want(http.StatusForbidden)
	}
	if got := h.api(olga, "GET /operator/audit?actor=usr_olga", ""); strings.Contains(got.Body, "aud_") {
		t.Errorf("CON-07 something was done: %s", got)
	}
	got := h.page(olga, "GET /operator", nil).Want(http.StatusOK)
	for name, want := range map[string]string{"X-Frame-Options": "DENY", "Cache-Control": "no-store"} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %q", name, got.Header.Get(name))
		}
	}
	if policy := got.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("policy %q", policy)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if _, err := pages.New(pages.Config{}); err == nil {
		t.Error("pages without an operator's side")
	}
	h := newHarness(t)
	if _, err := pages.New(pages.Config{Operator: h.Operator(), Prefix: "staff/"}); err == nil {
		t.Error("a prefix that is no path")
	}
}
