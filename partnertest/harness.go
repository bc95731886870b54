package partnertest

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/schemacheck"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/webhooks"
)

// Harness is a platform that runs until its test ends. Its methods fail the test when
// something unexpected happens. Make one with [New]. It is safe for concurrent use, but
// for the methods that fail a test, which belong to the goroutine of that test.
type Harness struct {
	*partnerkit.Platform
	Host           *Host // the host double; its sessions are valid with every Config.Host
	Store          partnerkit.Store
	Clock          *clock.Manual // the platform's clock; see also Advance
	APIURL, AppURL string        // where the two hosts are served, such as http://127.0.0.1:40001

	t         testing.TB
	unchecked *events.Log     // records what a test gives it
	transport *http.Transport // of the clients
}

// New starts a platform for a test. Without edits it has SQLite in memory, the host
// double with its developers, the default scopes, events and pages, and a clock that shows
// 1 September 2026, 12:00 UTC. Webhooks and client metadata documents may be on
// loopback. Events that the host records must follow the schemas of the catalog
// (events/schemacheck). Warnings are written to the test's log.
//
// The edits change this configuration before the platform is built, in order. A Store
// that an edit sets is not closed by the harness. Config.Clock must remain a
// *clock.Manual, and APIURL and AppURL must remain as they are.
func New(t testing.TB, edits ...func(*partnerkit.Config)) *Harness {
	t.Helper()
	api, app := httptest.NewUnstartedServer(nil), httptest.NewUnstartedServer(nil)
	h := &Harness{
		t: t, Host: NewHost(), transport: &http.Transport{},
		APIURL: "http://" + api.Listener.Addr().String(), AppURL: "http://" + app.Listener.Addr().String(),
	}
	closeServers := func() {
		h.transport.CloseIdleConnections()
		api.Close()
		app.Close()
	}
	t.Cleanup(closeServers) // even if New fails
	platform, err := partnerkit.New(h.config(edits))
	if err != nil {
		t.Fatal(err)
	}
	h.Platform = platform
	if h.unchecked, err = events.New(events.Config{Store: h.Store, Catalog: platform.Events().Catalog(), Clock: h.Clock}); err != nil {
		t.Fatal(err)
	}
	h.run()
	t.Cleanup(closeServers) // before the platform stops
	api.Config.Handler, app.Config.Handler = platform.API(), platform.App()
	api.Start()
	app.Start()
	return h
}

// config returns the configuration after the edits, complete.
func (h *Harness) config(edits []func(*partnerkit.Config)) partnerkit.Config {
	h.t.Helper()
	cfg := partnerkit.Config{
		Host: h.Host, Developers: h.Host, Keyring: fixture.Keyring(1), Pages: pages.New(),
		APIURL: h.APIURL, AppURL: h.AppURL,
		CompileSchema: schemacheck.Compile,
		Clock:         clock.NewManual(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)),
		Logger:        slog.New(slog.NewTextHandler(h.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	cfg.Webhooks.AllowLoopback = true
	cfg.OAuth.Documents.AllowLoopback = true
	for _, edit := range edits {
		edit(&cfg)
	}
	manual, ok := cfg.Clock.(*clock.Manual)
	if !ok {
		h.t.Fatalf("partnertest: Config.Clock is a %T; Advance needs a *clock.Manual", cfg.Clock)
	}
	h.Clock = manual
	if cfg.APIURL != h.APIURL || cfg.AppURL != h.AppURL {
		h.t.Fatal("partnertest: Config.APIURL and Config.AppURL must not be changed: they are where the harness listens")
	}
	if cfg.Store == nil {
		store, err := sqlite.Open(h.t.Context(), sqlite.Config{Path: sqlite.Memory})
		if err != nil {
			h.t.Fatal(err)
		}
		h.t.Cleanup(func() {
			if err := store.Close(); err != nil {
				h.t.Errorf("partnertest: close the store: %v", err)
			}
		})
		cfg.Store = store
	}
	h.Store = cfg.Store
	if cfg.Host != nil { // partnerkit.New reports what is missing
		cfg.Host = sessionsFirst{cfg.Host, h.Host}
	}
	if cfg.Developers != nil {
		cfg.Developers = developersFirst{cfg.Developers, h.Host}
	}
	if cfg.Pages != nil {
		cfg.Pages = capturingPages{cfg.Pages}
	}
	return cfg
}

// run runs the platform's loops until the test ends.
func (h *Harness) run() {
	ctx, stop := context.WithCancel(context.WithoutCancel(h.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	h.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			h.t.Errorf("partnertest: the platform ended with %v", err)
		}
	})
}

// settleWithin bounds how long Settle may take in real time.
const settleWithin = time.Minute

// Advance moves the clock forward and then calls Settle. The clock moves in one step: a
// delivery that fails now is due again after its next delay from the new time.
func (h *Harness) Advance(d time.Duration) {
	h.t.Helper()
	h.Clock.Advance(d)
	h.Settle()
}

// Settle waits until everything that is due has happened: expired rows are removed, every
// recorded event is planned, and every delivery that is due was attempted and its
// outcome recorded. An attempt whose endpoint does not respond takes up to
// webhooks.AttemptTimeout of real time.
func (h *Harness) Settle() {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), settleWithin)
	defer cancel()
	if err := h.Platform.Settle(ctx); err != nil {
		h.t.Fatalf("partnertest: settle: %v", err)
	}
	if err := h.Webhooks().AwaitResponses(ctx, webhooks.AttemptTimeout); err != nil {
		h.t.Fatalf("partnertest: await webhooks: %v", err)
	}
}

// Record records an event outside of a transaction, in [Business] unless the draft names
// a business. The data need not follow the schema of its type: a test of a receiver can use
// as little as it needs. Events().Record, which the host calls, checks it.
func (h *Harness) Record(d events.Draft) partner.Event {
	h.t.Helper()
	d.BusinessID = cmp.Or(d.BusinessID, Business)
	recorded, err := h.unchecked.Record(h.t.Context(), d)
	if err != nil {
		h.t.Fatalf("partnertest: record %s: %v", d.Type, err)
	}
	return recorded[0]
}

// Browser returns a client that is signed in as a user, with the session cookie of
// the host double, on both hosts. It follows redirects between the two hosts; a
// redirect to another origin, such as one to an app, is returned as the response.
func (h *Harness) Browser(userID, businessID string) *http.Client {
	h.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	origin, err := url.Parse(h.AppURL) // cookies do not depend on the port
	if err != nil {
		h.t.Fatal(err)
	}
	jar.SetCookies(origin, []*http.Cookie{h.Host.NewSession(userID, businessID)})
	return &http.Client{Transport: h.transport, Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if target := "http://" + r.URL.Host; target != h.APIURL && target != h.AppURL {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}
