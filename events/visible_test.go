package events_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

// list reads what is in the store, past the API.
func (k *api) list(businessID, appID string, types ...string) []partner.Event {
	k.Helper()
	_, err := k.Store.NumberEvents(k.Context(), businessID)
	k.Must(err)
	found, err := k.Store.Events(k.Context(), eventstore.Query{BusinessID: businessID, Types: types, AppID: appID, AppTypes: types, Limit: 1000})
	k.Must(err)
	return found
}

// EVT-02, CAT-02: an app sees what its token's scopes show it, in its business, and
// what is its own; also what came before it was installed.
func TestVisibility(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	one, other := k.NewApp(allScopes), k.NewApp(allScopes)
	before := k.record("biz_1", "invoice.created", "customer.created", "customer.redact", "payment.received", "supplier.redact", "bill.paid")
	all := k.Connect(one, "biz_1", allScopes)
	narrow := k.Connect(one, "biz_1", identity.MustScopes("events:read", "customers:read"))
	abroad := k.Connect(one, "biz_2", allScopes)
	others := k.Connect(other, "biz_1", allScopes)
	k.record("biz_2", "invoice.created")
	k.Must(k.OAuth.SetInstallationScopes(t.Context(), other.ID, "biz_1", identity.MustScopes("events:read", "invoices:read")))
	own := k.list("biz_1", other.ID, events.AppScopesUpdated)
	k.Clock.Advance(time.Second)

	invoice, customer, redact := before[0], before[1], before[2]
	k.call(all, "/events").shows(invoice, customer, redact, before[4], before[5])
	k.call(narrow, "/events").shows(customer, redact)
	k.call(others, "/events").shows(invoice, own[0])
	if got := k.call(abroad, "/events").page(); len(got.Events) != 1 || got.Events[0].BusinessID != "biz_2" {
		t.Errorf("in another business: %v", got)
	}
	// EVT-04: the same for one event.
	for name, test := range map[string]struct {
		token string
		event partner.Event
		shown bool
	}{
		"visible":               {all, invoice, true},
		"privacy":               {narrow, redact, true},
		"no scope in the token": {narrow, invoice, false},
		"no scope in the app":   {all, before[3], false},
		"another business's":    {abroad, invoice, false},
		"the app's own":         {others, own[0], true},
		"another app's own":     {all, own[0], false},
		"scope was taken":       {others, customer, false},
	} {
		got := k.call(test.token, "/events/"+test.event.ID)
		if !test.shown {
			got.refused(http.StatusNotFound, codes.EventNotFound.Code)
		} else if got.Status != http.StatusOK || !strings.Contains(got.Body, test.event.ID) {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	for _, absent := range []string{id.New(id.Event, harness.Start), "evt_1", "x"} {
		k.call(all, "/events/"+absent).refused(http.StatusNotFound, codes.EventNotFound.Code)
	}
	for _, invalid := range []string{"evt_%00", "%ff"} {
		if got := k.call(all, "/events/"+invalid); got.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", invalid, got.Status, got.Body)
		}
	}

	// What the app or the installation loses counts from the next call.
	_, err := k.Store.UpdateApp(t.Context(), one.ID, func(a partner.App) (partner.App, error) {
		a.Scopes = identity.MustScopes("events:read", "invoices:read")
		return a, nil
	})
	k.Must(err)
	k.call(all, "/events").shows(invoice)
	k.Must(k.OAuth.SetInstallationScopes(t.Context(), one.ID, "biz_1", identity.MustScopes("events:read")))
	if got := k.call(all, "/events").page(); len(got.Events) != 1 || got.Events[0].Type != events.AppScopesUpdated {
		t.Errorf("without a scope: %v", got)
	}
}

// API-06: people have no event log; and without events:read an app has none.
func TestWhoMayCall(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	here := k.record("biz_1", "invoice.created")[0]
	for _, target := range []string{"/events", "/events/" + here.ID, "/open/events"} {
		k.call("", target, "Cookie", k.Host.NewSession(partnertest.User, "biz_1").String()).refused(http.StatusForbidden, codes.EventLogForConnectedApps.Code)
	}
	token := k.Connect(k.NewApp(allScopes), "biz_1", identity.MustScopes("invoices:read"))
	k.call(token, "/events").refused(http.StatusForbidden, codes.InsufficientScope.Code)
	k.call(token, "/events/"+here.ID).refused(http.StatusForbidden, codes.InsufficientScope.Code)
}

// CAT-02, EVT-02: what the OAuth server records is shown to its app, in the shape of
// the catalog's sample.
func TestLifecycleEventsAreShown(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	app := k.NewApp(allScopes)
	token := k.Connect(app, "biz_1", allScopes)
	k.Must(k.OAuth.SetInstallationScopes(t.Context(), app.ID, "biz_1", identity.MustScopes("events:read")))
	got := k.call(token, "/events").page()
	if len(got.Events) != 1 || got.Events[0].Type != events.AppScopesUpdated {
		t.Fatalf("events %v", got)
	}
	definition, _ := k.log.Catalog().Lookup(events.AppScopesUpdated)
	if diff := cmp.Diff(members(t, definition.Sample), members(t, got.Events[0].Data)); diff != "" {
		t.Errorf("members (-sample +recorded)\n%s", diff)
	}
}
