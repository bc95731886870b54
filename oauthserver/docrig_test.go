package oauthserver_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

var (
	rigStart  = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	rigCaller = netip.MustParseAddr("198.51.100.7")
)

// A docRig is a server on a store of its own, with a clock that stands still.
type docRig struct {
	*oauthserver.Server
	env   *storetest.Env
	clock *clock.Manual
	host  *rigHost
	cfg   oauthserver.Config
}

func newDocRig(t testing.TB, change func(*oauthserver.Config)) *docRig {
	t.Helper()
	env := storetest.NewEnv(t, storetest.SQLite)
	t.Cleanup(func() { _ = env.Close() })
	key, err := keyring.NewKey("", make([]byte, keyring.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.New(key)
	if err != nil {
		t.Fatal(err)
	}
	r := &docRig{env: env, clock: clock.NewManual(rigStart), host: &rigHost{}}
	r.cfg = oauthserver.Config{
		Store: env.Store, Host: r.host, Keyring: ring, Pages: rigPages{}, Clock: r.clock,
		APIURL: "https://api.example.com", AppURL: "https://app.example.com",
	}
	if change != nil {
		change(&r.cfg)
	}
	r.Server = r.node(t, nil)
	return r
}

// node is another server on the same store.
func (r *docRig) node(t testing.TB, change func(*oauthserver.Config)) *oauthserver.Server {
	t.Helper()
	cfg := r.cfg
	if change != nil {
		change(&cfg)
	}
	s, err := oauthserver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// app creates a confidential app.
func (r *docRig) app(t testing.TB, change func(*oauthserver.App)) oauthserver.App {
	t.Helper()
	now := r.clock.Now()
	app := oauthserver.App{
		ID: id.New(id.App, now), ClientID: id.New(id.Client, now), Type: oauthserver.Confidential, Status: oauthserver.AppActive,
		Origin: oauthserver.OriginConsole, Name: "Ledger", OrganizationID: "org_1", Reviewed: true,
		RedirectURIs: []string{"https://ledger.example/callback"}, Scopes: identity.MustScopes("invoices:read"), CreatedAt: now,
	}
	if change != nil {
		change(&app)
	}
	if err := r.env.CreateApp(t.Context(), app, nil); err != nil {
		t.Fatal(err)
	}
	return app
}

// install has the user approve the app for the business.
func (r *docRig) install(t testing.TB, app oauthserver.App, businessID, userID string) oauthserver.Installation {
	t.Helper()
	now := r.clock.Now()
	request := oauthserver.AuthorizationRequest{
		ID: id.New(id.Request, now), Digest: secret.New("x_").Digest(), Browser: secret.DigestOf("browser"), AppID: app.ID,
		RedirectURI: app.RedirectURIs[0], Scopes: app.Scopes, CreatedAt: now, ExpiresAt: now.Add(time.Minute),
	}
	if err := r.env.HoldRequest(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	approved, err := r.env.ApproveRequest(t.Context(), oauthserver.Approval{
		RequestID: request.ID, UserID: userID, BusinessID: businessID, Now: now,
		InstallationID: id.New(id.Installation, now), GrantID: id.New(id.Grant, now),
		Check:  func(oauthserver.App) oauthserver.ApprovalOutcome { return oauthserver.ApprovalDone },
		Record: func(oauthserver.Approved) []events.Event { return nil },
	}, oauthserver.NewCode{ID: id.New(id.Code, now), Digest: secret.New("x_").Digest(), ExpiresAt: now.Add(time.Minute)})
	if err != nil || approved.Outcome != oauthserver.ApprovalDone {
		t.Fatalf("install: %v, %v", approved.Outcome, err)
	}
	r.host.join(businessID, userID)
	return approved.Installation
}

// rigHost knows who is a member of what.
type rigHost struct {
	oauthserver.Host

	mu      sync.Mutex
	members map[string]bool
	err     error
}

func (h *rigHost) join(businessID, userID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.members == nil {
		h.members = make(map[string]bool)
	}
	h.members[businessID+" "+userID] = true
}

func (h *rigHost) set(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err, h.members = err, nil
}

func (h *rigHost) IsMember(_ context.Context, businessID, userID string) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.members[businessID+" "+userID], h.err
}

// rigPages are never shown.
type rigPages struct{ oauthserver.Pages }

// rigGet asks over real HTTP.
func rigGet(t testing.TB, url string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(fmt.Errorf("GET %s: %w", url, err))
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

func sha256Of(text string) [32]byte { return sha256.Sum256([]byte(text)) }

// rigMint is an access token about to be made.
func rigMint(now time.Time) oauthserver.NewTokens {
	return oauthserver.NewTokens{
		Now: now, AccessID: id.New(id.Token, now), AccessDigest: secret.New("x_").Digest(), AccessExpires: now.Add(time.Hour),
	}
}
