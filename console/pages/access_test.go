package pages_test

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/partner"
)

// newComplete is a harness with everything switched on, and something in each place of an
// app of Ann's. It returns how to fill in the path of a route.
func newComplete(t testing.TB, changes ...func(*pages.Config)) (o *harness, app partner.App, fill func(path string) string) {
	t.Helper()
	o = newHarness(t, append(changes, func(cfg *pages.Config) {
		cfg.MoveClock = func(_ context.Context, by time.Duration) error { o.clock.Advance(by); return nil }
		cfg.RecordEvent = func(ctx context.Context, event events.Draft) error {
			_, err := o.Events.Record(ctx, event)
			return err
		}
	})...)
	app = o.newApp()
	hook := o.newWebhook(app, "https://partner.example/hook", "invoice.paid")
	delivery, err := o.Hooks.SendTest(t.Context(), app.ID, hook.ID, "")
	o.must(err)
	secrets, err := o.console.Secrets(t.Context(), o.actor(ann), app.ID)
	o.must(err)
	o.Calls.Count(analytics.Call{AppID: app.ID, At: o.clock.Now(), Status: http.StatusOK, RequestID: "request-1"})
	known := map[string]string{"{appId}": app.ID, "{webhookId}": hook.ID, "{deliveryId}": delivery.ID, "{secretId}": secrets[0].ID, "{requestId}": "request-1"}
	return o, app, func(path string) string {
		return parameter.ReplaceAllStringFunc(path, func(name string) string {
			if id, ok := known[name]; ok {
				return id
			}
			return "some_id"
		})
	}
}

var parameter = regexp.MustCompile(`{\w+}`)

// CON-01: a visitor signs in first and then returns to the requested page.
func TestSignIn_CON01(t *testing.T) {
	t.Parallel()
	o, _, fill := newComplete(t)
	for _, route := range o.pages.Routes() {
		path := fill(route.Path) + "?days=7"
		back := "/developer"
		if route.Method == http.MethodGet {
			back += path
		}
		got := o.send(ask{method: route.Method, path: path}).want(http.StatusSeeOther).Header.Get("Location")
		if want := "/login?" + (url.Values{"return_to": {back}}).Encode(); got != want {
			t.Errorf("%s %s leads to %q, want %q", route.Method, route.Path, got, want)
		}
		bearer := o.send(ask{method: route.Method, path: path, by: ann, set: http.Header{"Authorization": {"Bearer token"}}})
		if !strings.HasPrefix(bearer.want(http.StatusSeeOther).Header.Get("Location"), "/login?") {
			t.Errorf("%s %s opens with an access token", route.Method, route.Path)
		}
	}
}

// CON-01: another organization's app is not there, on any page.
func TestForeignApp_CON01(t *testing.T) {
	t.Parallel()
	o, app, fill := newComplete(t)
	before := o.auditLength(app)
	for _, route := range o.pages.Routes() {
		if !strings.Contains(route.Path, "{appId}") {
			continue
		}
		for _, stranger := range []string{eve, zoe} {
			o.send(ask{method: route.Method, path: fill(route.Path), by: stranger}).want(http.StatusNotFound).alerts("app not found").lacks(app.Name, app.ClientID)
		}
		o.send(ask{method: route.Method, path: strings.ReplaceAll(fill(route.Path), app.ID, "app_nope"), by: ann}).want(http.StatusNotFound).alerts("app not found")
	}
	if after := o.auditLength(app); after != before {
		t.Errorf("strangers wrote %d entries", after-before)
	}
}

// auditLength is how much was done to an app.
func (o *harness) auditLength(app partner.App) int {
	o.Helper()
	page, err := o.console.Audit(o.Context(), o.actor(ann), app.ID, console.Page{Limit: console.MaxLimit})
	o.must(err)
	return len(page.Items)
}

// CON-07: no form of another site writes anything.
func TestOrigins_CON07(t *testing.T) {
	t.Parallel()
	o, app, fill := newComplete(t, func(cfg *pages.Config) { cfg.Origins = []string{"https://public.example.com"} })
	before, then := o.auditLength(app), o.clock.Now()
	writes := 0
	for _, route := range o.pages.Routes() {
		if route.Method == http.MethodGet {
			continue
		}
		writes++
		for name, set := range map[string]http.Header{
			"another site":                     {"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}},
			"an older browser on another site": {"Origin": {"https://evil.example"}, "Sec-Fetch-Site": nil},
			"without an origin":                {"Origin": nil, "Sec-Fetch-Site": {"cross-site"}},
			"a neighbour":                      {"Origin": {"https://blog.example.com"}, "Sec-Fetch-Site": {"same-site"}},
			"nowhere":                          {"Origin": {"null"}, "Sec-Fetch-Site": nil},
		} {
			got := o.send(ask{method: route.Method, path: fill(route.Path), by: ann, set: set, form: url.Values{"by": {"1h"}, "return_to": {"/developer"}}})
			if got.Status != http.StatusForbidden {
				t.Errorf("%s %s from %s: %d", route.Method, route.Path, name, got.Status)
			}
			got.alerts("This request came from another site")
		}
	}
	if writes == 0 || o.auditLength(app) != before || o.clock.Now().Sub(then) >= time.Hour {
		t.Errorf("%d writes, %d entries before and %d after", writes, before, o.auditLength(app))
	}
	for name, set := range map[string]http.Header{
		"a page of ours":          {},
		"the public origin":       {"Origin": {"https://public.example.com"}, "Sec-Fetch-Site": {"cross-site"}},
		"a form without referrer": {"Origin": {"null"}},
		"no browser":              {"Origin": nil, "Sec-Fetch-Site": nil},
	} {
		got := o.send(ask{method: http.MethodPost, path: "/clock", by: ann, set: set, form: url.Values{"by": {"1h"}, "return_to": {"/developer"}}})
		if got.Status != http.StatusSeeOther {
			t.Errorf("from %s: %d", name, got.Status)
		}
	}
}

// Every response forbids frames, foreign content and caches.
func TestHeaders(t *testing.T) {
	t.Parallel()
	o, app, fill := newComplete(t)
	responses := []response{
		o.get("/nowhere").want(http.StatusNotFound),
		o.get("?after=%ff").want(http.StatusBadRequest),
		o.get("?after=%00").want(http.StatusBadRequest),
		o.send(ask{method: http.MethodPut, by: ann}).want(http.StatusMethodNotAllowed),
		o.send(ask{method: http.MethodGet}).want(http.StatusSeeOther),
		o.post("/apps/" + app.ID + "/settings").want(http.StatusBadRequest),
		o.post("/apps/" + app.ID + "/secrets").want(http.StatusOK),
		o.send(ask{method: http.MethodPost, path: "/apps/new", by: ann, set: http.Header{"Sec-Fetch-Site": {"cross-site"}}}).want(http.StatusForbidden),
		o.send(ask{method: http.MethodPost, path: "/apps/new", by: ann, set: http.Header{"Content-Type": {"text/plain"}}}).want(http.StatusUnsupportedMediaType),
	}
	for _, route := range o.pages.Routes() {
		responses = append(responses, o.send(ask{method: route.Method, path: fill(route.Path), by: ann}))
	}
	for _, got := range responses {
		policy := got.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "form-action 'self'") ||
			strings.Contains(policy, "unsafe") || got.Header.Get("X-Frame-Options") != "DENY" || got.Header.Get("Cache-Control") != "no-store" ||
			got.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", got.Request, got.Header)
		}
		if strings.Contains(got.Body, " style=") || strings.Contains(got.Body, "<style") || regexp.MustCompile(`\son[a-z]+=`).MatchString(got.Body) {
			t.Errorf("%s has what the policy forbids: %s", got.Request, got.Body)
		}
	}
}
