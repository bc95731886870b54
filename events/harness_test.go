package events_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var allScopes = identity.MustScopes("events:read", "invoices:read", "customers:read", "suppliers:read")

// api is the Events API behind the guard.
type api struct {
	*harness.Harness
	log *events.Log
}

func newAPI(t testing.TB) *api {
	t.Helper()
	return newAPIOn(t, testdb.SQLite, events.Catalog{})
}

func newAPIOn(t testing.TB, open testdb.Opener, catalog events.Catalog) *api {
	t.Helper()
	k := &api{Harness: harness.New(t, open)}
	var err error
	k.log, err = events.New(events.Config{Store: k.Store, Catalog: catalog, Clock: k.Clock})
	k.Must(err)
	cfg := k.GuardConfig()
	cfg.Versions = guard.Versions{Current: "2026-09-01", All: []guard.Version{{Name: "2025-06-01"}, {Name: "2026-01-15"}, {Name: "2026-09-01"}}}
	k.Handle(cfg,
		guard.Route{Pattern: "GET /events", Scope: "events:read", AppsOnly: codes.EventLogForConnectedApps, Handler: k.log.List},
		guard.Route{Pattern: "GET /events/{id}", Scope: "events:read", AppsOnly: codes.EventLogForConnectedApps, Handler: k.log.Get},
		guard.Route{Pattern: "GET /open/events", Scope: "events:read", SessionsAllowed: true, Handler: k.log.List},
	)
	return k
}

// record records events of these types in a business, in one call.
func (k *api) record(businessID string, types ...string) []partner.Event {
	k.Helper()
	drafts := make([]events.Draft, len(types))
	for i, name := range types {
		drafts[i] = events.Draft{Type: name, BusinessID: businessID, Data: map[string]int{"n": i}}
	}
	k.Clock.Advance(time.Second)
	recorded, err := k.log.Record(k.Context(), drafts...)
	k.Must(err)
	return recorded
}

// call is a GET with a token; headers are pairs.
func (k *api) call(token, target string, headers ...string) response {
	k.Helper()
	return response{k.TB, k.Call(token, "GET "+target, "", headers...)}
}

type response struct {
	testing.TB
	*partnertest.Response
}

// record is an event as the API shows it.
type record struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	APIVersion string          `json:"apiVersion"`
	BusinessID string          `json:"businessId"`
	Created    int64           `json:"created"`
	Data       json.RawMessage `json:"data"`
}

type page struct {
	Events  []record `json:"events"`
	HasMore bool     `json:"hasMore"`
}

func (p page) ids() []string {
	ids := make([]string, len(p.Events))
	for i, e := range p.Events {
		ids[i] = e.ID
	}
	return ids
}

func (a response) page() page {
	a.Helper()
	var p page
	a.Want(http.StatusOK).Decode(&p)
	return p
}

// shows wants these events, in this order, and no more.
func (a response) shows(want ...partner.Event) page {
	a.Helper()
	got := a.page()
	ids := make([]string, len(want))
	for i, e := range want {
		ids[i] = e.ID
	}
	if diff := cmp.Diff(ids, got.ids()); diff != "" {
		a.Errorf("%s (-want +got)\n%s", a.Request, diff)
	}
	return got
}

// refused wants an error with that code, and returns its message.
func (a response) refused(status int, code apierror.Code) any {
	a.Helper()
	return harness.Refused(a.TB, a.Response, status, code).Message
}
