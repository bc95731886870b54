package appdata_test

import (
	"context"
	"encoding/json"
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
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

var allScopes = identity.MustScopes("invoices:read", "customers:read", "events:read")

// kit is the app data API behind the guard, on a real store and a real OAuth server.
type kit struct {
	testing.TB
	store *storetest.Env
	clock *clock.Manual
	books *books
	data  *appdata.Service
	oauth *oauthserver.Server
	api   http.Handler
}

func newKit(t testing.TB, changes ...func(*appdata.Config)) *kit {
	t.Helper()
	return newKitOn(t, storetest.SQLite, changes...)
}

func newKitOn(t testing.TB, open storetest.Opener, changes ...func(*appdata.Config)) *kit {
	t.Helper()
	k := &kit{TB: t, store: storetest.NewEnv(t, open), clock: clock.NewManual(start), books: &books{}}
	key, err := keyring.NewKey("test", make([]byte, keyring.KeySize))
	k.must(err)
	ring, err := keyring.New(key)
	k.must(err)
	k.oauth, err = oauthserver.New(oauthserver.Config{
		Store: k.store, Host: k.books, Keyring: ring, Pages: struct{ oauthserver.Pages }{}, Clock: k.clock,
		APIURL: "https://api.example.com", AppURL: "https://app.example.com",
	})
	k.must(err)
	cfg := appdata.Config{Store: k.store, Records: k.books, Answer: guard.Answer, Clock: k.clock}
	for _, change := range changes {
		change(&cfg)
	}
	k.data, err = appdata.New(cfg)
	k.must(err)
	keys, err := guard.NewIdempotency(guard.IdempotencyConfig{Store: k.store, Clock: k.clock})
	k.must(err)
	surface, err := guard.New(guard.Config{Tokens: k.oauth, Sessions: k.books, Clock: k.clock, Idempotency: keys.Wrap})
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

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// app registers one that may have these scopes.
func (k *kit) app(scopes identity.Scopes) oauthserver.App {
	k.Helper()
	now := k.clock.Now()
	app := oauthserver.App{
		ID: id.New(id.App, now), ClientID: id.New(id.Client, now), Type: oauthserver.Public, Status: oauthserver.AppActive, Origin: oauthserver.OriginConsole,
		Name: "App", Reviewed: true, RedirectURIs: []string{"https://partner.example.com/cb"}, Scopes: scopes, CreatedAt: now,
	}
	k.must(k.store.CreateApp(k.Context(), app, nil))
	return app
}

// connect installs the app in a business and returns a token with these scopes.
func (k *kit) connect(app oauthserver.App, businessID string, scopes identity.Scopes) string {
	k.Helper()
	now := k.clock.Now()
	request := oauthserver.AuthorizationRequest{
		ID: id.New(id.Authorization, now), Digest: secret.New(secret.ConsentRequest).Digest(), AppID: app.ID, RedirectURI: app.RedirectURIs[0],
		Scopes: scopes, CreatedAt: now, ExpiresAt: now.Add(oauthserver.RequestLifetime),
	}
	k.must(k.store.HoldRequest(k.Context(), request))
	code := secret.New(secret.AuthorizationCode).Digest()
	approved, err := k.store.ApproveRequest(k.Context(), oauthserver.Approval{
		RequestID: request.ID, UserID: "usr_1", BusinessID: businessID, InstallationID: id.New(id.Installation, now), GrantID: id.New(id.Grant, now), Now: now,
		Check:  func(oauthserver.App) oauthserver.ApprovalOutcome { return oauthserver.ApprovalDone },
		Record: func(oauthserver.Approved) []events.Event { return nil },
	}, oauthserver.NewCode{ID: id.New(id.Code, now), Digest: code, ExpiresAt: now.Add(oauthserver.CodeLifetime)})
	if err != nil || approved.Outcome != oauthserver.ApprovalDone {
		k.Fatalf("approve: %v, %v", approved.Outcome, err)
	}
	found, err := k.store.Code(k.Context(), code)
	k.must(err)
	access := secret.NewToken(secret.AccessToken, id.New(id.Token, now))
	mint := oauthserver.NewTokens{
		Now: now, FamilyID: id.New(id.Family, now), AccessID: access.TokenID(), AccessDigest: access.Digest(), AccessExpires: now.Add(365 * 24 * time.Hour),
		RefreshID: id.New(id.Token, now), RefreshDigest: secret.New(secret.RefreshToken).Digest(), RefreshExpires: now.Add(oauthserver.RefreshTokenLifetime),
	}
	if minted, err := k.store.RedeemCode(k.Context(), found, mint); err != nil || minted.Outcome != oauthserver.Issued {
		k.Fatalf("redeem: %v, %v", minted.Outcome, err)
	}
	return access.Reveal()
}

// declare declares a field from its JSON.
func (k *kit) declare(app oauthserver.App, text string) appdata.Field {
	k.Helper()
	f, err := k.data.DeclareField(k.Context(), app.ID, declaration(k, text))
	k.must(err)
	return f
}

// declaration decodes JSON as a console does.
func declaration(t testing.TB, text string) appdata.Declaration {
	t.Helper()
	var d appdata.Declaration
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	if err := apierror.DecodeJSON(r, &d, apierror.JSONLimits{}); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

// partner is an app that is installed in biz_1, with a token.
type partner struct {
	*kit
	app   oauthserver.App
	token string
}

func (k *kit) partner() partner {
	k.Helper()
	app := k.app(allScopes)
	return partner{k, app, k.connect(app, "biz_1", allScopes)}
}

// call sends a request: "GET /app-data?resourceId=inv_1". Headers are pairs.
func (p partner) call(call, body string, headers ...string) answer {
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
	w := httptest.NewRecorder()
	p.api.ServeHTTP(w, r)
	return answer{TB: p.TB, call: call + " " + body, status: w.Code, header: w.Result().Header, raw: w.Body.String()}
}

// put writes values, each a JSON object.
func (p partner) put(values ...string) answer {
	p.Helper()
	return p.call("PUT /app-data", `{"values":[`+strings.Join(values, ",")+`]}`)
}

// on is a value for a PUT: on an invoice, as JSON.
func on(resourceID, key, value string) string {
	return `{"resourceType":"invoice","resourceId":"` + resourceID + `","key":"` + key + `","value":` + value + `}`
}

func (p partner) list(query string) answer {
	p.Helper()
	return p.call("GET /app-data?"+query, "")
}

// told returns the data of the app's app_data.updated events, oldest first.
func (p partner) told() []string {
	p.Helper()
	p.must(p.store.NumberEvents(p.Context(), "biz_1"))
	found, err := p.store.Events(p.Context(), events.Query{BusinessID: "biz_1", AppID: p.app.ID, AppTypes: []string{events.AppDataUpdated}, Limit: 100})
	p.must(err)
	all := make([]string, len(found))
	for i, e := range found {
		all[i] = string(e.Data)
	}
	return all
}

type answer struct {
	testing.TB
	call   string
	status int
	header http.Header
	raw    string
}

// values wants success and returns what it lists.
func (a answer) values() []appdata.Value {
	a.Helper()
	var body struct {
		Values, Data []appdata.Value
	}
	if err := json.Unmarshal([]byte(a.raw), &body); err != nil || a.status != http.StatusOK {
		a.Fatalf("%s: %d %s", a.call, a.status, a.raw)
	}
	return slices.Concat(body.Values, body.Data)
}

// shows wants these values, as "resource key value", in this order.
func (a answer) shows(want ...string) {
	a.Helper()
	got := []string{}
	for _, v := range a.values() {
		got = append(got, v.ResourceID+" "+v.Key+" "+string(v.Value))
	}
	if !slices.Equal(got, want) {
		a.Errorf("%s: %q, want %q", a.call, got, want)
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
func (a answer) refused(status int, code apierror.Code) problem {
	a.Helper()
	var body problem
	if err := json.Unmarshal([]byte(a.raw), &body); err != nil || a.status != status || body.StatusCode != status || body.Code != code || body.Error != http.StatusText(status) {
		a.Errorf("%s: %d %s, want %d %s", a.call, a.status, a.raw, status, code)
	}
	return body
}

// invalid wants a validation failure: no code, and these messages.
func (a answer) invalid(want ...string) {
	a.Helper()
	messages, _ := a.refused(http.StatusBadRequest, "").Message.([]any)
	got := make([]string, len(messages))
	for i, m := range messages {
		got[i], _ = m.(string)
	}
	if !slices.Equal(got, want) {
		a.Errorf("%s: %q, want %q", a.call, got, want)
	}
}

// books are the host: a person who is a member everywhere and, in each business, every
// record but those that are named "absent…".
type books struct {
	mu    sync.Mutex
	asked [][]appdata.Record
	fault error
	onAsk func() // while the question is open
}

func (b *books) ExistingRecords(_ context.Context, businessID string, asked []appdata.Record) ([]appdata.Record, error) {
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

func (b *books) Session(r *http.Request) (identity.Session, bool, error) {
	_, err := r.Cookie("session")
	return identity.Session{ID: "ses_1", UserID: "usr_1", BusinessID: "biz_1"}, err == nil, nil
}
func (b *books) SignIn(http.ResponseWriter, *http.Request, string)                  {}
func (b *books) Businesses(context.Context, string) ([]oauthserver.Business, error) { return nil, nil }
func (b *books) IsMember(context.Context, string, string) (bool, error)             { return true, nil }
