package appdata_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var allScopes = identity.MustScopes("invoices:read", "customers:read", "events:read")

// api is the app data API behind the guard.
type api struct {
	*harness.Harness
	books *records
	data  *appdata.Service
}

func newAPI(t testing.TB, changes ...func(*appdata.Config)) *api {
	t.Helper()
	return newAPIOn(t, testdb.SQLite, changes...)
}

func newAPIOn(t testing.TB, open testdb.Opener, changes ...func(*appdata.Config)) *api {
	t.Helper()
	k := &api{Harness: harness.New(t, open), books: &records{}}
	cfg := appdata.Config{Store: k.Store, Records: k.books, Respond: idempotency.Respond, Clock: k.Clock}
	for _, change := range changes {
		change(&cfg)
	}
	var err error
	k.data, err = appdata.New(cfg)
	k.Must(err)
	keys, err := idempotency.New(idempotency.Config{Store: k.Store, Clock: k.Clock})
	k.Must(err)
	only := codes.AppDataForConnectedApps
	surface := k.GuardConfig()
	surface.Idempotency = keys.Wrap
	k.Handle(surface,
		guard.Route{Pattern: "GET /app-data", Scope: guard.AnyScope, AppsOnly: only, Handler: k.data.ListValues},
		guard.Route{Pattern: "PUT /app-data", Scope: guard.AnyScope, AppsOnly: only, Handler: k.data.PutValues},
		guard.Route{Pattern: "DELETE /app-data/{id}", Scope: guard.AnyScope, AppsOnly: only, Handler: k.data.DeleteValue},
		guard.Route{Pattern: "GET /open", Scope: guard.AnyScope, SessionsAllowed: true, Handler: k.data.ListValues},
		guard.Route{Pattern: "PUT /open", Scope: guard.AnyScope, SessionsAllowed: true, Handler: k.data.PutValues},
		guard.Route{Pattern: "DELETE /open/{id}", Scope: guard.AnyScope, SessionsAllowed: true, Handler: k.data.DeleteValue},
	)
	return k
}

// declare declares a field from its JSON.
func (k *api) declare(app partner.App, text string) valuestore.Field {
	k.Helper()
	f, err := k.tryDeclare(app.ID, text)
	k.Must(err)
	return f
}

func (k *api) tryDeclare(appID, text string) (valuestore.Field, error) {
	d, err := declaration(text)
	if err != nil {
		return valuestore.Field{}, err
	}
	return k.data.DeclareField(k.Context(), appID, d)
}

// declaration decodes JSON as a console does.
func declaration(text string) (d appdata.Declaration, err error) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	return d, strictjson.Decode(r, &d, strictjson.Limits{})
}

// connected is an app that is installed in biz_1, with a token.
type connected struct {
	*api
	app   partner.App
	token string
}

func (k *api) connected() connected {
	k.Helper()
	app := k.NewApp(allScopes)
	return connected{k, app, k.Connect(app, "biz_1", allScopes)}
}

// call sends a request: "GET /app-data?resourceId=inv_1". Headers are pairs.
func (p connected) call(call, body string, headers ...string) response {
	p.Helper()
	return response{p.TB, p.Call(p.token, call, body, headers...)}
}

// put writes values, each a JSON object.
func (p connected) put(values ...string) response {
	p.Helper()
	return p.call("PUT /app-data", `{"values":[`+strings.Join(values, ",")+`]}`)
}

// on is a value for a PUT: on an invoice, as JSON.
func on(resourceID, key, value string) string {
	return `{"resourceType":"invoice","resourceId":"` + resourceID + `","key":"` + key + `","value":` + value + `}`
}

func (p connected) list(query string) response {
	p.Helper()
	return p.call("GET /app-data?"+query, "")
}

// told returns the data of the app's app_data.updated events, oldest first.
func (p connected) told() []string {
	p.Helper()
	_, err := p.Store.NumberEvents(p.Context(), "biz_1")
	p.Must(err)
	found, err := p.Store.Events(p.Context(), eventstore.Query{BusinessID: "biz_1", AppID: p.app.ID, AppTypes: []string{events.AppDataUpdated}, Limit: 100})
	p.Must(err)
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
func (a response) values() []valuestore.Value {
	a.Helper()
	var body struct {
		Values, Data []valuestore.Value
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

// refused wants an error with that code.
func (a response) refused(status int, code apierror.Code) harness.Problem {
	a.Helper()
	return harness.Refused(a.TB, a.Response, status, code)
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
