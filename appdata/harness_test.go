package appdata_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
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

var allScopes = identity.MustScopes("invoices:read", "customers:read", "events:read")

// harness is the app data API behind the guard, on a real store and a real OAuth server.
type harness struct {
	testing.TB
	store *storetest.Env
	clock *clock.Manual
	host  *partnertest.Host
	books *records
	data  *appdata.Service
	oauth *oauthserver.Server
	api   http.Handler
}

func newHarness(t testing.TB, changes ...func(*appdata.Config)) *harness {
	t.Helper()
	return newHarnessOn(t, storetest.SQLite, changes...)
}

func newHarnessOn(t testing.TB, open storetest.Opener, changes ...func(*appdata.Config)) *harness {
	t.Helper()
	k := &harness{TB: t, store: storetest.NewEnv(t, open), clock: clock.NewManual(start), host: partnertest.NewHost(), books: &records{}}
	var err error
	k.oauth, err = oauthserver.New(oauthserver.Config{
		Store: k.store, Host: k.host, Keyring: fixture.Keyring(1), Pages: struct{ oauthserver.Pages }{}, Clock: k.clock,
		APIURL: "https://api.example.com", AppURL: "https://app.example.com",
	})
	k.must(err)
	cfg := appdata.Config{Store: k.store, Records: k.books, Respond: guard.Respond, Clock: k.clock}
	for _, change := range changes {
		change(&cfg)
	}
	k.data, err = appdata.New(cfg)
	k.must(err)
	keys, err := guard.NewIdempotency(guard.IdempotencyConfig{Store: k.store, Clock: k.clock})
	k.must(err)
	surface, err := guard.New(guard.Config{Tokens: k.oauth, Sessions: k.host, Clock: k.clock, Idempotency: keys.Wrap})
	k.must(err)
	const only = apierror.AppDataForConnectedApps
	k.must(surface.Handle(
		guard.Route{Pattern: "GET /app-data", Scope: guard.AnyScope, AppsOnly: only, Handler: k.data.ListValues},
		guard.Route{Pattern: "PUT /app-data", Scope: guard.AnyScope, AppsOnly: only, Handler: k.data.PutValues},
		guard.Route{Pattern: "DELETE /app-data/{id}", Scope: guard.AnyScope, AppsOnly: only, Handler: k.data.DeleteValue},
		guard.Route{Pattern: "GET /open", Scope: guard.AnyScope, SessionsAllowed: true, Handler: k.data.ListValues},
		guard.Route{Pattern: "PUT /open", Scope: guard.AnyScope, SessionsAllowed: true, Handler: k.data.PutValues},
		guard.Route{Pattern: "DELETE /open/{id}", Scope: guard.AnyScope, SessionsAllowed: true, Handler: k.data.DeleteValue},
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

// declare declares a field from its JSON.
func (k *harness) declare(app oauthserver.App, text string) appdata.Field {
	k.Helper()
	f, err := k.tryDeclare(app.ID, text)
	k.must(err)
	return f
}

func (k *harness) tryDeclare(appID, text string) (appdata.Field, error) {
	d, err := declaration(text)
	if err != nil {
		return appdata.Field{}, err
	}
	return k.data.DeclareField(k.Context(), appID, d)
}

// declaration decodes JSON as a console does.
func declaration(text string) (d appdata.Declaration, err error) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	return d, apierror.DecodeJSON(r, &d, apierror.JSONLimits{})
}

// partner is an app that is installed in biz_1, with a token.
type partner struct {
	*harness
	app   oauthserver.App
	token string
}

func (k *harness) partner() partner {
	k.Helper()
	app := k.app(allScopes)
	return partner{k, app, k.connect(app, "biz_1", allScopes)}
}

// call sends a request: "GET /app-data?resourceId=inv_1". Headers are pairs.
func (p partner) call(call, body string, headers ...string) response {
	p.Helper()
	method, target, _ := strings.Cut(call, " ")
	r := httptest.NewRequestWithContext(p.Context(), method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return response{p.TB, partnertest.Serve(p.TB, p.api, r)}
}

// put writes values, each a JSON object.
func (p partner) put(values ...string) response {
	p.Helper()
	return p.call("PUT /app-data", `{"values":[`+strings.Join(values, ",")+`]}`)
}

// on is a value for a PUT: on an invoice, as JSON.
func on(resourceID, key, value string) string {
	return `{"resourceType":"invoice","resourceId":"` + resourceID + `","key":"` + key + `","value":` + value + `}`
}

func (p partner) list(query string) response {
	p.Helper()
	return p.call("GET /app-data?"+query, "")
}

// told returns the data of the app's app_data.updated events, oldest first.
func (p partner) told() []string {
	p.Helper()
	_, err := p.store.NumberEvents(p.Context(), events.Numbering{BusinessID: "biz_1"})
	p.must(err)
	found, err := p.store.Events(p.Context(), events.Query{BusinessID: "biz_1", AppID: p.app.ID, AppTypes: []string{events.AppDataUpdated}, Limit: 100})
	p.must(err)
	all := make([]string, len(found))
	for i, e := range found {
		all[i] = string(e.Data)
	}
	return all
}

type response struct {
	testing.TB
	*partnertest.Response
}

// values wants success and returns what it lists.
func (a response) values() []appdata.Value {
	a.Helper()
	var body struct {
		Values, Data []appdata.Value
	}
	a.Want(http.StatusOK).Decode(&body)
	return slices.Concat(body.Values, body.Data)
}

// shows wants these values, as "resource key value", in this order.
func (a response) shows(want ...string) {
	a.Helper()
	got := []string{}
	for _, v := range a.values() {
		got = append(got, v.ResourceID+" "+v.Key+" "+string(v.Value))
	}
	if !slices.Equal(got, want) {
		a.Errorf("%s: %q, want %q", a.Request, got, want)
	}
}

type problem struct {
	StatusCode int
	Error      string
	Code       apierror.Code
	Message    any
	Params     map[string]string
	Details    []apierror.ValueDetail
}

// refused wants an error with that code.
func (a response) refused(status int, code apierror.Code) problem {
	a.Helper()
	var body problem
	a.WantCode(status, code).Decode(&body)
	if body.StatusCode != status || body.Error != http.StatusText(status) {
		a.Errorf("%s, want %d", a, status)
	}
	return body
}

// invalid wants a validation failure: no code, and these messages.
func (a response) invalid(want ...string) {
	a.Helper()
	messages, _ := a.refused(http.StatusBadRequest, "").Message.([]any)
	got := make([]string, len(messages))
	for i, m := range messages {
		got[i], _ = m.(string)
	}
	if !slices.Equal(got, want) {
		a.Errorf("%s: %q, want %q", a.Request, got, want)
	}
}

// records are those of the host: in each business every one but those that are named
// "absent…".
type records struct {
	mu    sync.Mutex
	asked [][]appdata.Record
	fault error
	onAsk func() // while the question is open
}

func (b *records) ExistingRecords(_ context.Context, businessID string, asked []appdata.Record) ([]appdata.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, slices.Clone(asked))
	if b.onAsk != nil {
		b.onAsk()
	}
	slices.Reverse(asked) // in any order
	found := slices.DeleteFunc(asked, func(r appdata.Record) bool {
		return strings.HasPrefix(r.ResourceID, "absent") || strings.HasPrefix(r.ResourceID, "of ") && r.ResourceID != "of "+businessID
	})
	return found, b.fault
}
