package pages_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/theme"
)

// hostile is what an app, its receiver or the host's records may be made of.
const hostile = `<script>alert(1)</script>"'`

// All stored values are shown as text.
func TestMarkupIsText(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, hostile)
	}))
	defer receiver.Close()
	o := newHarness(t, func(cfg *pages.Config) {
		cfg.Service, cfg.Theme.Links = hostile, []theme.Link{{Text: hostile, Href: "/settings/apps"}}
	})
	o.run()
	ctx := t.Context()
	app := o.newApp(func(n *console.NewApp) { n.Name = hostile })
	hook := o.newWebhook(app, receiver.URL+"/?"+hostile, events.AppInstalled)
	_, err := o.Events.Record(ctx, events.Draft{Type: events.AppInstalled, BusinessID: hostile, AppID: app.ID, Data: map[string]string{hostile: hostile}})
	o.must(err)
	o.settle()
	page, err := o.Hooks.Deliveries(ctx, partner.DeliveryQuery{AppID: app.ID, WebhookID: hook.ID})
	o.must(err)
	deliveries := page.Deliveries
	if len(deliveries) != 1 || deliveries[0].Status != partner.DeliveryRetrying {
		t.Fatalf("the deliveries are %v", deliveries)
	}
	for _, statement := range []string{
		"UPDATE partnerkit_delivery SET last_error = $1", "UPDATE partnerkit_attempt SET error = $1", "UPDATE partnerkit_client_secret SET prefix = $1",
		"UPDATE partnerkit_app SET app_url = $1", "UPDATE partnerkit_app SET pinned_version = $1",
	} {
		_, err := o.store.Tap.Exec(ctx, statement, hostile)
		o.must(err)
	}
	own := "/apps/" + app.ID
	for path, least := range map[string]int{ // how often it must be seen
		"":                           2,
		own + "/settings":            4,
		own + "/secrets":             2,
		own + "/webhooks":            2,
		own + "/webhooks/new":        2,
		own + "/webhooks/nope":       1,
		own + "/webhooks/" + hook.ID: 3,
		own + "/webhooks/" + hook.ID + "/deliveries/" + deliveries[0].ID: 6,
	} {
		o.get(path).harmless(least)
	}
	keys := []string{"name", "redirect_uris", "scopes", "app_url", "pinned_version", "url", "events", "organization_id", "type"}
	var pairs []string
	for _, key := range keys {
		pairs = append(pairs, key, hostile)
	}
	for _, path := range []string{"/apps/new", own + "/settings", own + "/webhooks/new", own + "/webhooks/" + hook.ID} {
		o.post(path, pairs...).want(http.StatusBadRequest).harmless(3)
	}
}

// harmless checks that the page shows the hostile text that often, and is not made of it.
func (a response) harmless(least int) {
	a.o.Helper()
	if strings.Count(a.Body, "<script") != 1 || strings.Contains(a.Body, `script>"'`) {
		a.o.Errorf("%s: it contains markup of the input: %s", a.Request, a.Body)
	}
	escaped, err := json.Marshal(hostile) // as it stands in a body
	a.o.must(err)
	shown := strings.Count(a.text(), hostile) + strings.Count(a.text(), strings.Trim(string(escaped), `"`))
	if shown < least {
		a.o.Errorf("%s: shows it %d times, want %d: %s", a.Request, shown, least, a.text())
	}
}
