package oauthserver_test

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

const (
	pageAPI       = "https://api.example.com"
	pageApp       = "https://app.example.com"
	pageCallback  = "https://partner.example/cb"
	pageChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// pageEnv is an app host over a real store, with a clock that tests move.
type pageEnv struct {
	*testdb.Env
	clock  *clock.Manual
	host   *pageHost
	server *oauthserver.Server
	http   http.Handler
	log    *logtest.Buffer
}

func newPageEnv(t testing.TB, change ...func(*oauthserver.Config)) *pageEnv {
	t.Helper()
	return newPageEnvOn(t, testdb.SQLite, change...)
}

func newPageEnvOn(t testing.TB, open testdb.Opener, change ...func(*oauthserver.Config)) *pageEnv {
	t.Helper()
	e := &pageEnv{
		Env:   testdb.NewEnv(t, open),
		clock: clock.NewManual(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)),
		host:  &pageHost{Host: partnertest.NewHost()},
		log:   &logtest.Buffer{},
	}
	cfg := oauthserver.Config{
		Store: e.Store, Host: e.host, Keyring: fixture.Keyring(1), Pages: pages.New(),
		APIURL: pageAPI, AppURL: pageApp, Clock: e.clock, Logger: slog.New(slog.NewTextHandler(e.log, nil)),
	}
	for _, c := range change {
		c(&cfg)
	}
	server, err := oauthserver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	e.server, e.http = server, server.AppHandler()
	for _, b := range []oauthserver.Business{
		{ID: "biz_bakery", Name: "Corner Bakery", MayConnect: true},
		{ID: "biz_bikes", Name: "Harbour Bikes", MayConnect: true},
		{ID: "biz_guest", Name: "Guest House"},
		{ID: "biz_sandbox", Name: "Own Sandbox", MayConnect: true, SandboxOf: "org_dev"},
		{ID: "biz_other", Name: "Foreign Sandbox", MayConnect: true, SandboxOf: "org_else"},
	} {
		e.host.AddBusiness("usr_owner", b)
	}
	e.host.AddBusiness("usr_guest", oauthserver.Business{ID: "biz_guest", Name: "Guest House"})
	return e
}

// app adds an app: reviewed and confidential, unless changed.
func (e *pageEnv) app(t testing.TB, change ...func(*partner.App)) partner.App {
	t.Helper()
	app := fixture.App(e.clock.Now(), identity.MustScopes("invoices:read", "invoices:write", "customers:read"))
	app.Type, app.Name, app.OrganizationID, app.RedirectURIs = partner.Confidential, "Ledger Sync", "org_dev", []string{pageCallback}
	for _, c := range change {
		c(&app)
	}
	if app.Origin == partner.OriginDocument { // nothing to fetch for a while
		app.DocumentFetchedAt, app.DocumentFreshUntil = e.clock.Now(), e.clock.Now().Add(time.Hour)
	}
	status := app.Status
	app.Status = partner.AppActive
	if err := fixture.AddApp(t.Context(), e, app); err != nil {
		t.Fatal(err)
	}
	if status != partner.AppActive {
		e.setStatus(t, app, status)
	}
	return app
}

func (e *pageEnv) setStatus(t testing.TB, app partner.App, status partner.AppStatus) {
	t.Helper()
	if err := e.server.SetAppStatus(t.Context(), app.ID, status); err != nil {
		t.Fatal(err)
	}
}

func (e *pageEnv) update(t testing.TB, app partner.App, change func(*partner.App)) {
	t.Helper()
	_, err := e.UpdateApp(t.Context(), app.ID, func(a partner.App) (partner.App, error) {
		change(&a)
		return a, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// device adds a pending device code and returns what its device shows.
func (e *pageEnv) device(t testing.TB, app partner.App) oauthstore.DeviceCode {
	t.Helper()
	now := e.clock.Now()
	d := oauthstore.DeviceCode{
		Standing: oauthstore.Standing{Owners: oauthstore.Owners{AppID: app.ID}}, ID: id.New(id.Device, now), UserCode: secret.NewUserCode(),
		Scopes: app.Scopes, CreatedAt: now, ExpiresAt: now.Add(lifetimes.DeviceCode),
	}
	if err := e.CreateDevice(t.Context(), d, secret.New(secret.DeviceCode).Digest()); err != nil {
		t.Fatal(err)
	}
	return d
}

func (e *pageEnv) deviceStatus(t testing.TB, userCode string) oauthstore.DeviceStatus {
	t.Helper()
	d, err := e.DeviceByUserCode(t.Context(), userCode)
	if err != nil {
		t.Fatal(err)
	}
	return d.Status
}

// codeScopes is what an authorization code was approved for.
func (e *pageEnv) codeScopes(t testing.TB, code string) string {
	t.Helper()
	parsed, err := secret.Parse(secret.AuthorizationCode, code)
	if err != nil {
		t.Fatal(err)
	}
	found, err := e.Code(t.Context(), parsed.Digest())
	if err != nil {
		t.Fatal(err)
	}
	return found.Scopes.String()
}

// count is how many rows a table has.
func (e *pageEnv) count(t testing.TB, table string) int {
	t.Helper()
	rows, err := e.Tap.DB.Query(t.Context(), "SELECT COUNT(*) FROM partnerkit_"+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var n int
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	if err := rows.Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// wantNothingGranted checks that no approval was recorded.
func (e *pageEnv) wantNothingGranted(t testing.TB) {
	t.Helper()
	for _, table := range []string{"code", "installation", "grant", "event"} {
		if n := e.count(t, table); n != 0 {
			t.Errorf("%d rows of %s, want none", n, table)
		}
	}
}

// pageHost is the double, with something that happens while it is asked.
type pageHost struct {
	*partnertest.Host
	mu        sync.Mutex
	meanwhile func() // happens once, while the server asks for businesses
}

func (h *pageHost) Businesses(ctx context.Context, userID string) ([]oauthserver.Business, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.meanwhile != nil {
		h.meanwhile()
		h.meanwhile = nil
	}
	return h.Host.Businesses(ctx, userID)
}
