package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/partner"
)

// refuses checks that a page, or what a form posts to, is there for the app's developers
// alone.
func (o *harness) refuses(app partner.App, pages, forms []string) {
	o.Helper()
	for _, path := range pages {
		o.send(ask{method: http.MethodGet, path: "/apps/" + app.ID + path, by: eve}).want(http.StatusNotFound).lacks(app.Name, app.ClientID)
	}
	for _, path := range forms {
		o.send(ask{method: http.MethodPost, path: "/apps/" + app.ID + path, by: eve}).want(http.StatusNotFound).lacks(app.Name, app.ClientID)
	}
}

// later is a second after what was done last: ids of the same instant are in no order.
func (o *harness) later() *harness {
	o.clock.Advance(time.Second)
	return o
}

// CON-02, AN-01: how an app stands, with the calls of the last week.
func TestOverview_CON02_AN01(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp(func(n *console.NewApp) { n.Name = hostile })
	path := "/apps/" + app.ID
	o.get(path).want(http.StatusOK).
		shows(hostile, app.ClientID, "Confidential", "One", "Sandbox only", "Read invoices", "invoices:read", "Calls, 24 h 0", "Connected businesses 0", "The current one").
		lacks("<script>alert")
	o.newWebhook(app, "https://partner.example/hook")
	for range 1234 {
		o.Calls.Count(analytics.Call{AppID: app.ID, At: o.clock.Now(), Status: http.StatusOK, Took: time.Millisecond})
	}
	o.Calls.Count(analytics.Call{AppID: app.ID, At: o.clock.Now().AddDate(0, 0, -6), Status: http.StatusNotFound, Took: time.Millisecond})
	o.Calls.Count(analytics.Call{AppID: app.ID, At: o.clock.Now().AddDate(0, 0, -6), Status: http.StatusTooManyRequests, RateLimited: true, Took: time.Millisecond})
	o.Calls.Count(analytics.Call{AppID: app.ID, At: o.clock.Now().AddDate(0, 0, -7), Status: http.StatusOK, Took: time.Millisecond})
	o.Calls.Count(analytics.Call{AppID: app.ID, At: o.clock.Now(), Method: "GET", Route: "GET /invoices", Status: http.StatusForbidden, Took: 200 * time.Millisecond, Error: []byte(`{"code":"INSUFFICIENT_SCOPE","message":"The token lacks a scope","params":{"p0":"customers:write"}}`)})
	o.Calls.Count(analytics.Call{AppID: app.ID, At: o.clock.Now().Add(-30 * time.Hour), Status: http.StatusOK, Took: time.Millisecond})
	o.get(path).shows("Calls, 24 h 1,235 ↑ 123400 % on the day before", "Errors 0.1 % ↑ 0.1 points on the day before", "p95 latency 4 ms p50 2 ms", "403 GET /invoices 1 The token lacks a scope Add the scope",
		"partner.example/hook Working – 0")
	o.refuses(app, []string{""}, nil)
}

// What there is to do leads to where it is done, and says when it was.
func TestOverviewTodo(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	path := "/apps/" + app.ID
	done := func() int { return strings.Count(o.get(path).Body, `<li class="done">`) }
	if n := done(); n != 2 { // redirect URI and scopes
		t.Errorf("%d things are done at first", n)
	}
	for _, part := range []string{"/settings", "/webhooks", "/listing"} {
		if !slices.Contains(o.get(path).values("href"), "/developer"+path+part) {
			t.Errorf("nothing leads to %s", part)
		}
	}
	o.newWebhook(app, "https://partner.example/hook")
	if n := done(); n != 3 {
		t.Errorf("%d things are done with a webhook", n)
	}
	content := consolestore.ListingContent{Slug: "sync", Name: "Sync", Summary: "Syncs.", Description: "It syncs."}
	_, err := o.console.CreateListing(t.Context(), o.actor(ann), app.ID, content)
	o.must(err)
	if n := done(); n != 4 {
		t.Errorf("%d things are done with a draft", n)
	}
	_, err = o.console.SubmitListing(t.Context(), o.actor(ann), app.ID)
	o.must(err)
	if n := done(); n != 5 {
		t.Errorf("%d things are done after submitting", n)
	}
}
