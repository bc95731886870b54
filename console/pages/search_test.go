package pages_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
)

// found are the addresses of the results of a search.
func (a response) found() []string {
	a.o.Helper()
	_, results, ok := strings.Cut(a.want(http.StatusOK).Body, `id="results"`)
	if !ok {
		return nil
	}
	results, _, _ = strings.Cut(results, "</ul>")
	results, _, _ = strings.Cut(results, "</div>")
	a.Response.Body = results
	return a.values("href")
}

// CON-01, CON-02: a person finds apps, their pages and everything that has an id, and nothing
// that they may not see.
func TestSearch_CON01_CON02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp(func(n *console.NewApp) { n.Name = "Ledger Sync" })
	foreign, err := o.console.CreateApp(t.Context(), o.actor(eve), console.NewApp{Name: "Ledger Foreign", Type: partner.Public, RedirectURIs: []string{"https://eve.example/cb"}, Scopes: []string{"invoices:read", "events:read"}})
	o.must(err)
	own := o.prefix + "/apps/" + app.ID
	o.connect(app, "biz_1")
	o.connect(foreign.App, "biz_2")
	hook, foreignHook := o.newWebhook(app, "https://partner.example/hook", "invoice.paid"), o.newWebhook(foreign.App, "https://eve.example/hook", "invoice.paid")
	delivery, err := o.console.SendTest(t.Context(), o.actor(ann), app.ID, hook.ID, "invoice.paid")
	o.must(err)
	foreignDelivery, err := o.console.SendTest(t.Context(), o.actor(eve), foreign.App.ID, foreignHook.ID, "invoice.paid")
	o.must(err)
	o.clock.Advance(time.Second)
	event, foreignEvent := o.happens("biz_1", "invoice.paid"), o.happens("biz_2", "invoice.paid")
	requestID := id.New(id.Request, o.clock.Now())
	for _, owner := range []partner.App{app, foreign.App} {
		o.Calls.Count(analytics.Call{AppID: owner.ID, BusinessID: "biz_1", At: o.clock.Now(), Method: "GET", Route: "GET /invoices", Status: 200, RequestID: map[string]string{app.ID: requestID}[owner.ID]})
	}
	logged := func(a partner.App, by string) string {
		page, err := o.console.Requests(t.Context(), o.actor(by), a.ID, console.RequestFilter{}, console.Page{})
		o.must(err)
		return page.Items[0].ID
	}
	installed, err := o.store.Installations(t.Context(), partner.InstallationQuery{AppID: app.ID})
	o.must(err)
	search := func(q string) []string { t.Helper(); return o.get("/search?" + url.Values{"q": {q}}.Encode()).found() }

	for q, want := range map[string][]string{
		"ledger":                           {own},
		app.ID:                             {own},
		app.ClientID:                       {own},
		"LEDGER sync webh":                 {own + "/webhooks"},
		"console tok":                      {o.prefix + "/tokens"},
		"new app":                          {o.prefix + "/apps/new"},
		hook.ID:                            {own + "/webhooks/" + hook.ID},
		delivery.ID:                        {own + "/webhooks/" + hook.ID + "/deliveries/" + delivery.ID},
		event:                              {own + "/events/" + event},
		requestID:                          {own + "/requests/" + logged(app, ann)},
		logged(app, ann):                   {own + "/requests/" + logged(app, ann)},
		installed[0].ID:                    {own + "/installations"},
		"biz_1":                            {own + "/requests?businessId=biz_1"},
		foreign.App.ID:                     nil,
		foreignHook.ID:                     nil,
		foreignDelivery.ID:                 nil,
		foreignEvent:                       nil,
		logged(foreign.App, eve):           nil,
		"biz_2":                            nil,
		"Ledger Foreign":                   nil,
		id.New(id.Delivery, o.clock.Now()): nil,
		id.New(id.Request, o.clock.Now()):  nil,
		"nothing of the kind":              nil,
	} {
		if got := search(q); !slices.Equal(got, want) {
			t.Errorf("%s leads to %v, want %v", q, got, want)
		}
		for _, href := range search(q) {
			o.get(strings.TrimPrefix(href, o.prefix)).want(http.StatusOK)
		}
	}
	o.get("/search").want(http.StatusOK).lacks("Nothing found")
	o.get("/search?q=" + strings.Repeat("x", 300)).want(http.StatusOK).shows("Nothing found")
	o.get("/search?q=%3Cscript%3Ealert(1)%3C/script%3E").want(http.StatusOK).lacks("<script>alert")
	o.send(ask{method: http.MethodGet, path: "/search?q=ledger"}).want(http.StatusSeeOther) // to sign in
}

// CON-02: apps are a table that can be searched, sorted and paged through.
func TestAppsTable_CON02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	for _, name := range []string{"Beta", "alpha", "Gamma"} {
		o.newApp(func(n *console.NewApp) { n.Name = name })
		o.clock.Advance(time.Second)
	}
	order := func(query string) string {
		t.Helper()
		page := o.get("/apps" + query).want(http.StatusOK).text()
		names := []string{"Beta", "alpha", "Gamma"}
		names = slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(page, name+" One") })
		slices.SortFunc(names, func(a, b string) int { return strings.Index(page, a+" One") - strings.Index(page, b+" One") })
		return strings.Join(names, " ")
	}
	for query, want := range map[string]string{
		"": "alpha Beta Gamma", "?sort=name": "alpha Beta Gamma", "?sort=-name": "Gamma Beta alpha", "?sort=created": "Beta alpha Gamma", "?sort=-created": "Gamma alpha Beta",
		"?sort=x": "alpha Beta Gamma", "?query=ALPH": "alpha", "?query=mm&sort=-name": "Gamma", "?query=none": "", "?query=org": "", "?query=one": "alpha Beta Gamma",
		"?after=1": "Beta Gamma", "?after=-1": "alpha Beta Gamma", "?after=99": "alpha Beta Gamma",
	} {
		if got := order(query); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	page := o.get("/apps?sort=name&query=a").want(http.StatusOK)
	if !slices.Contains(page.values("href"), o.prefix+"/apps?query=a&sort=-name") || !slices.Contains(page.values("aria-sort"), "ascending") {
		t.Errorf("sorting: %v, %v", page.values("href"), page.values("aria-sort"))
	}
}

// happens records an event and returns its id.
func (o *harness) happens(business, name string) string {
	o.Helper()
	recorded, err := o.Events.Record(o.Context(), events.Draft{Type: name, BusinessID: business, Data: map[string]any{}})
	o.must(err)
	return recorded[0].ID
}
