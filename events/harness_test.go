package events_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partnertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

var allScopes = identity.MustScopes("events:read", "invoices:read", "customers:read", "suppliers:read")

// harness is the Events API behind the guard, on a real store and a real OAuth server.
type harness struct {
	testing.TB
	store *storetest.Env
	clock *clock.Manual
	host  *partnertest.Host
	log   *events.Log
	oauth *oauthserver.Server
	api   http.Handler
}

func newHarness(t testing.TB) *harness {
	t.Helper()
	return newHarnessOn(t, storetest.SQLite, events.Catalog{})
}

func newHarnessOn(t testing.TB, open storetest.Opener, catalog events.Catalog) *harness {
	t.Helper()
	k := &harness{TB: t, store: storetest.NewEnv(t, open), clock: clock.NewManual(start), host: partnertest.NewHost()}
	var err error
	k.oauth, err = oauthserver.New(oauthserver.Config{
		Store: k.store, Host: k.host, Keyring: fixture.Keyring(1), Pages: struct{ oauthserver.Pages }{}, Clock: k.clock,
		APIURL: "https://api.example.com", AppURL: "https://app.example.com",
	})
	k.must(err)
	k.log, err = events.New(events.Config{Store: k.store, Catalog: catalog, Clock: k.clock})
	k.must(err)
	surface, err := guard.New(guard.Config{
		Tokens: k.oauth, Sessions: k.host, Clock: k.clock,
		Versions: guard.Versions{Current: "2026-09-01", All: []guard.Version{{Name: "2025-06-01"}, {Name: "2026-01-15"}, {Name: "2026-09-01"}}},
	})
	k.must(err)
	k.must(surface.Handle(
		guard.Route{Pattern: "GET /events", Scope: "events:read", AppsOnly: apierror.EventLogForConnectedApps, Handler: k.log.List},
		guard.Route{Pattern: "GET /events/{id}", Scope: "events:read", AppsOnly: apierror.EventLogForConnectedApps, Handler: k.log.Get},
		guard.Route{Pattern: "GET /open/events", Scope: "events:read", SessionsAllowed: true, Handler: k.log.List},
	))
	k.api = surface
	return k
}

func (k *harness) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// app registers one that may have these scopes.
func (k *harness) app(scopes identity.Scopes) oauthserver.App {
	k.Helper()
	app := fixture.App(k.clock.Now(), scopes)
	k.must(fixture.AddApp(k.Context(), k.store, app))
	return app
}

// connect installs the app in a business and returns a token with these scopes.
func (k *harness) connect(app oauthserver.App, businessID string, scopes identity.Scopes) string {
	k.Helper()
	k.host.AddBusiness(partnertest.User, oauthserver.Business{ID: businessID})
	tokens, err := fixture.Connect(k.Context(), k.store, fixture.Consent{
		App: app, BusinessID: businessID, UserID: partnertest.User, Scopes: scopes, Now: k.clock.Now(), Lifetime: 365 * 24 * time.Hour,
	})
	k.must(err)
	return tokens.Access
}

// record records events of these types in a business, in one call.
func (k *harness) record(businessID string, types ...string) []events.Event {
	k.Helper()
	drafts := make([]events.Draft, len(types))
	for i, name := range types {
		drafts[i] = events.Draft{Type: name, BusinessID: businessID, Data: map[string]int{"n": i}}
	}
	k.clock.Advance(time.Second)
	recorded, err := k.log.Record(k.Context(), k.store, drafts...)
	k.must(err)
	return recorded
}

// call is a GET with a token; headers are pairs.
func (k *harness) call(token, target string, headers ...string) response {
	k.Helper()
	r := httptest.NewRequestWithContext(k.Context(), http.MethodGet, target, http.NoBody)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return response{k.TB, partnertest.Serve(k.TB, k.api, r)}
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
func (a response) shows(want ...events.Event) page {
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
	var body struct {
		StatusCode int
		Code       apierror.Code
		Message    any
	}
	a.WantCode(status, code).Decode(&body)
	if body.StatusCode != status {
		a.Errorf("%s, want %d", a, status)
	}
	return body.Message
}
