package oauthserver_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

const (
	pageAPI       = "https://api.example.com"
	pageApp       = "https://app.example.com"
	pageCallback  = "https://partner.example/cb"
	pageChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// pageEnv is an app host over a real store, with a clock that tests move.
type pageEnv struct {
	*storetest.Env
	clock  *clock.Manual
	host   *pageHost
	server *oauthserver.Server
	http   http.Handler
	log    *pageLog
}

type pageLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *pageLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *pageLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newPageEnv(t testing.TB, change ...func(*oauthserver.Config)) *pageEnv {
	t.Helper()
	return newPageEnvOn(t, storetest.SQLite, change...)
}

func newPageEnvOn(t testing.TB, open storetest.Opener, change ...func(*oauthserver.Config)) *pageEnv {
	t.Helper()
	e := &pageEnv{
		Env:   storetest.NewEnv(t, open),
		clock: clock.NewManual(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)),
		host:  &pageHost{sessions: map[string]identity.Session{}, businesses: map[string][]oauthserver.Business{}},
		log:   &pageLog{},
	}
	cfg := oauthserver.Config{
		Store: e.Store, Host: e.host, Keyring: pageKeyring(t, 1), Pages: pages.New(),
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
	e.host.businesses["usr_owner"] = []oauthserver.Business{
		{ID: "biz_bakery", Name: "Corner Bakery", MayConnect: true},
		{ID: "biz_bikes", Name: "Harbour Bikes", MayConnect: true},
		{ID: "biz_guest", Name: "Guest House"},
		{ID: "biz_sandbox", Name: "Own Sandbox", MayConnect: true, SandboxOf: "org_dev"},
		{ID: "biz_other", Name: "Foreign Sandbox", MayConnect: true, SandboxOf: "org_else"},
	}
	e.host.businesses["usr_guest"] = []oauthserver.Business{{ID: "biz_guest", Name: "Guest House"}}
	return e
}

func pageKeyring(t testing.TB, numbers ...byte) *keyring.Keyring {
	t.Helper()
	var keys []keyring.Key
	for _, n := range numbers {
		key, err := keyring.NewKey(fmt.Sprintf("k%d", n), bytes.Repeat([]byte{n}, keyring.KeySize))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	ring, err := keyring.New(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// app adds an app: reviewed and confidential, unless changed.
func (e *pageEnv) app(t testing.TB, change ...func(*oauthserver.App)) oauthserver.App {
	t.Helper()
	app := oauthserver.App{
		ID: id.New(id.App, e.clock.Now()), ClientID: id.New(id.Client, e.clock.Now()), Type: oauthserver.Confidential,
		Status: oauthserver.AppActive, Origin: oauthserver.OriginConsole, Name: "Ledger Sync", OrganizationID: "org_dev", Reviewed: true,
		RedirectURIs: []string{pageCallback}, Scopes: identity.MustScopes("invoices:read", "invoices:write", "customers:read"), CreatedAt: e.clock.Now(),
	}
	for _, c := range change {
		c(&app)
	}
	if app.Origin == oauthserver.OriginDocument { // nothing to fetch for a while
		app.DocumentFetchedAt, app.DocumentFreshUntil = e.clock.Now(), e.clock.Now().Add(time.Hour)
	}
	status := app.Status
	app.Status = oauthserver.AppActive
	if err := e.CreateApp(t.Context(), app, nil); err != nil {
		t.Fatal(err)
	}
	if status != oauthserver.AppActive {
		e.setStatus(t, app, status)
	}
	return app
}

func (e *pageEnv) setStatus(t testing.TB, app oauthserver.App, status oauthserver.AppStatus) {
	t.Helper()
	if err := e.server.SetAppStatus(t.Context(), app.ID, status); err != nil {
		t.Fatal(err)
	}
}

func (e *pageEnv) update(t testing.TB, app oauthserver.App, change func(*oauthserver.App)) {
	t.Helper()
	_, err := e.UpdateApp(t.Context(), app.ID, func(a oauthserver.App) (oauthserver.App, error) {
		change(&a)
		return a, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// device adds a pending device code and returns what its device shows.
func (e *pageEnv) device(t testing.TB, app oauthserver.App) oauthserver.DeviceCode {
	t.Helper()
	now := e.clock.Now()
	d := oauthserver.DeviceCode{
		Standing: oauthserver.Standing{AppID: app.ID}, ID: id.New(id.Device, now), UserCode: secret.NewUserCode(),
		Scopes: app.Scopes, CreatedAt: now, ExpiresAt: now.Add(oauthserver.DeviceCodeLifetime),
	}
	if err := e.CreateDevice(t.Context(), d, secret.New(secret.DeviceCode).Digest()); err != nil {
		t.Fatal(err)
	}
	return d
}

func (e *pageEnv) deviceStatus(t testing.TB, userCode string) oauthserver.DeviceStatus {
	t.Helper()
	d, err := e.DeviceByUserCode(t.Context(), userCode)
	if err != nil {
		t.Fatal(err)
	}
	return d.Status
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

// wantNothingGranted says that no approval left a trace.
func (e *pageEnv) wantNothingGranted(t testing.TB) {
	t.Helper()
	for _, table := range []string{"code", "installation", "grant", "event"} {
		if n := e.count(t, table); n != 0 {
			t.Errorf("%d rows of %s, want none", n, table)
		}
	}
}

// pageHost is a host with a session cookie named sid.
type pageHost struct {
	mu         sync.Mutex
	sessions   map[string]identity.Session
	businesses map[string][]oauthserver.Business
	fault      error
	meanwhile  func() // happens once, while the server asks for businesses
}

func (h *pageHost) set(sid string, session identity.Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions[sid] = session
}

func (h *pageHost) Session(r *http.Request) (identity.Session, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	cookie, err := r.Cookie("sid")
	if err != nil {
		return identity.Session{}, false, h.fault
	}
	session, ok := h.sessions[cookie.Value]
	return session, ok, h.fault
}

func (*pageHost) SignIn(w http.ResponseWriter, r *http.Request, returnTo string) {
	http.Redirect(w, r, "/login?"+url.Values{"return_to": {returnTo}}.Encode(), http.StatusSeeOther)
}

func (h *pageHost) Businesses(_ context.Context, userID string) ([]oauthserver.Business, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.meanwhile != nil {
		h.meanwhile()
		h.meanwhile = nil
	}
	return h.businesses[userID], h.fault
}

func (h *pageHost) IsMember(_ context.Context, businessID, userID string) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.businesses[userID] {
		if b.ID == businessID {
			return true, h.fault
		}
	}
	return false, h.fault
}
