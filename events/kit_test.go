package events_test

import (
	"context"
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
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

var allScopes = identity.MustScopes("events:read", "invoices:read", "customers:read", "suppliers:read")

// kit is the Events API behind the guard, on a real store and a real OAuth server.
type kit struct {
	testing.TB
	store *storetest.Env
	clock *clock.Manual
	log   *events.Log
	oauth *oauthserver.Server
	api   http.Handler
}

func newKit(t testing.TB) *kit {
	t.Helper()
	return newKitOn(t, storetest.SQLite, events.Catalog{})
}

func newKitOn(t testing.TB, open storetest.Opener, catalog events.Catalog) *kit {
	t.Helper()
	k := &kit{TB: t, store: storetest.NewEnv(t, open), clock: clock.NewManual(start)}
	key, err := keyring.NewKey("test", make([]byte, keyring.KeySize))
	k.must(err)
	ring, err := keyring.New(key)
	k.must(err)
	k.oauth, err = oauthserver.New(oauthserver.Config{
		Store: k.store, Host: host{}, Keyring: ring, Pages: struct{ oauthserver.Pages }{}, Clock: k.clock,
		APIURL: "https://api.example.com", AppURL: "https://app.example.com",
	})
	k.must(err)
	k.log, err = events.New(events.Config{Store: k.store, Catalog: catalog, Clock: k.clock})
	k.must(err)
	surface, err := guard.New(guard.Config{
		Tokens: k.oauth, Sessions: host{}, Clock: k.clock,
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

// record records events of these types in a business, in one call.
func (k *kit) record(businessID string, types ...string) []events.Event {
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
func (k *kit) call(token, target string, headers ...string) answer {
	k.Helper()
	r := httptest.NewRequestWithContext(k.Context(), http.MethodGet, target, http.NoBody)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	k.api.ServeHTTP(w, r)
	return answer{TB: k.TB, target: target, status: w.Code, raw: w.Body.String()}
}

type answer struct {
	testing.TB
	target string
	status int
	raw    string
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

func (a answer) page() page {
	a.Helper()
	var p page
	if err := json.Unmarshal([]byte(a.raw), &p); err != nil || a.status != http.StatusOK {
		a.Fatalf("%s: %d %s", a.target, a.status, a.raw)
	}
	return p
}

// shows wants these events, in this order, and no more.
func (a answer) shows(want ...events.Event) page {
	a.Helper()
	got := a.page()
	ids := make([]string, len(want))
	for i, e := range want {
		ids[i] = e.ID
	}
	if diff := cmp.Diff(ids, got.ids()); diff != "" {
		a.Errorf("%s (-want +got)\n%s", a.target, diff)
	}
	return got
}

// refused wants an error with that code, and returns its message.
func (a answer) refused(status int, code apierror.Code) any {
	a.Helper()
	var body struct {
		StatusCode int
		Code       apierror.Code
		Message    any
	}
	if err := json.Unmarshal([]byte(a.raw), &body); err != nil || a.status != status || body.StatusCode != status || body.Code != code {
		a.Errorf("%s: %d %s, want %d %s", a.target, a.status, a.raw, status, code)
	}
	return body.Message
}

// host has one member everywhere, who is signed in when there is a cookie.
type host struct{}

func (host) Session(r *http.Request) (identity.Session, bool, error) {
	_, err := r.Cookie("session")
	return identity.Session{ID: "ses_1", UserID: "usr_1", BusinessID: "biz_1"}, err == nil, nil
}
func (host) SignIn(http.ResponseWriter, *http.Request, string)                  {}
func (host) Businesses(context.Context, string) ([]oauthserver.Business, error) { return nil, nil }
func (host) IsMember(context.Context, string, string) (bool, error)             { return true, nil }
