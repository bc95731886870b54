package steady_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

const subscribed = "invoice.created"

var scopes = identity.MustScopes("invoices:read", "customers:read")

// platform is events and webhooks on a store, and a receiver on loopback.
type platform struct {
	*sqlstore.Store
	t        *testing.T
	receiver *httptest.Server
	logged   *logtest.Buffer
	begun    func() // called when a measurement begins

	mu      sync.Mutex
	arrived map[string]time.Time // by event
	count   int
	app     int
}

// onEach runs a proof on each database.
func onEach(t *testing.T, run func(t *testing.T, p *platform)) {
	t.Helper()
	testenv.Long(t)
	t.Run("SQLite", func(t *testing.T) {
		p := &platform{t: t, logged: new(logtest.Buffer), arrived: map[string]time.Time{}}
		store, err := sqlite.Open(t.Context(), sqlite.Config{Path: t.TempDir() + "/steady.db", Logger: p.logger()})
		p.begin(store, err)
		run(t, p)
	})
	t.Run("PostgreSQL", func(t *testing.T) { run(t, onPostgres(t)) })
}

func onPostgres(t *testing.T) *platform {
	t.Helper()
	url, schema := testenv.Postgres(t)
	p := &platform{t: t, logged: new(logtest.Buffer), arrived: map[string]time.Time{}}
	store, err := postgres.Open(t.Context(), url, postgres.Config{Schema: schema, Logger: p.logger()})
	p.begin(store, err)
	return p
}

func (p *platform) logger() *slog.Logger {
	if p.logged == nil {
		p.logged = new(logtest.Buffer)
	}
	return slog.New(slog.NewTextHandler(p.logged, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// begin starts the receiver and, on a store that was opened, what carries its hints.
func (p *platform) begin(store *sqlstore.Store, err error) {
	p.t.Helper()
	t := p.t
	p.must(err)
	p.Store = store
	t.Cleanup(func() { _ = store.Close() })
	p.receiver = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		p.mu.Lock()
		defer p.mu.Unlock()
		if event := r.Header.Get("X-Webhook-Event-Id"); event != "" {
			p.arrived[event] = time.Now()
		}
		p.count++
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(p.receiver.Close)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = store.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
}

// settled waits until everything is planned, sent and recorded.
func (p *platform) settled(settle func(ctx context.Context) error) {
	p.t.Helper()
	p.must(settle(p.t.Context()))
	time.Sleep(500 * time.Millisecond)
}

func (p *platform) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// service returns one that plans and sends by a clock, and log, which records events by it.
func (p *platform) service(by clock.Clock) (*webhooks.Service, *events.Log) {
	p.t.Helper()
	svc, err := webhooks.New(webhooks.Config{
		Store: p.Store, Keyring: fixture.Keyring(1), Clock: by, Options: webhooks.Options{AllowLoopback: true},
		Logger: p.logger(),
	})
	p.must(err)
	log, err := events.New(events.Config{Store: p.Store, Clock: by})
	p.must(err)
	return svc, log
}

// run runs a service until the test ends.
func (p *platform) run(svc *webhooks.Service) {
	ctx, stop := context.WithCancel(context.WithoutCancel(p.t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = svc.Run(ctx) })
	p.t.Cleanup(func() { stop(); running.Wait() })
	time.Sleep(time.Second) // it takes the shards
}

// subscriber installs an app with a webhook in businesses.
func (p *platform) subscriber(svc *webhooks.Service, businesses ...string) (partner.App, partner.Webhook) {
	p.t.Helper()
	ctx, now := p.t.Context(), time.Now().Add(-time.Hour)
	app := fixture.App(now, scopes)
	p.must(fixture.AddApp(ctx, p, app))
	for _, business := range businesses {
		_, _, err := fixture.Approve(ctx, p, fixture.Consent{App: app, BusinessID: business, UserID: "usr_1", Scopes: scopes, Now: now})
		p.must(err)
	}
	p.app++
	w, _, err := svc.Create(ctx, webhooks.NewWebhook{AppID: app.ID, URL: fmt.Sprintf("%s/%d", p.receiver.URL, p.app), Events: []string{subscribed}})
	p.must(err)
	return app, w
}

func draft(business, name string) events.Draft {
	return events.Draft{Type: name, BusinessID: business, Data: map[string]any{"invoice": map[string]any{"id": "inv_1", "number": "2026-0001"}}}
}

// latency records an event and returns how long it took to arrive.
func (p *platform) latency(log *events.Log, business string) time.Duration {
	p.t.Helper()
	recorded, err := log.Record(p.t.Context(), draft(business, subscribed))
	p.must(err)
	return p.await(recorded[0].ID, time.Now())
}

func (p *platform) await(eventID string, since time.Time) time.Duration {
	p.t.Helper()
	for time.Since(since) < time.Minute {
		p.mu.Lock()
		at, ok := p.arrived[eventID]
		p.mu.Unlock()
		if ok {
			return at.Sub(since)
		}
		time.Sleep(200 * time.Microsecond)
	}
	p.t.Fatalf("%s has not arrived after a minute: %s", eventID, p.logged)
	return 0
}

// latencies returns the median and the greatest of some.
func (p *platform) latencies(log *events.Log, business string, n int) (median, most time.Duration) {
	p.t.Helper()
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = p.latency(log, business)
		time.Sleep(20 * time.Millisecond)
	}
	slices.Sort(all)
	return all[n/2], all[n-1]
}

// total is how many deliveries have arrived.
func (p *platform) total() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// recordMany records n events of businesses, some in each transaction.
func (p *platform) recordMany(log *events.Log, n int, businesses ...string) {
	p.t.Helper()
	for i := 0; n > 0; i++ {
		drafts := make([]events.Draft, min(n, 50))
		for j := range drafts {
			drafts[j] = draft(businesses[i%len(businesses)], subscribed)
		}
		n -= len(drafts)
		_, err := log.Record(p.t.Context(), drafts...)
		p.must(err)
	}
}

// imported records n events of a business in one transaction.
func (p *platform) imported(business, name string, n int) {
	p.t.Helper()
	now := time.Now()
	all := make([]partner.Event, n)
	for i := range all {
		all[i] = partner.Event{ID: id.New(id.Event, now.Add(time.Duration(i)*time.Microsecond)), Type: name, BusinessID: business, Data: []byte(`{"customer":{"id":"cus_1"}}`), CreatedAt: now}
	}
	p.must(p.RecordEvents(p.t.Context(), all...))
}

// holdSnapshot opens a transaction that sees the database as it is now.
func holdSnapshot(t *testing.T, url, schema string) (release func()) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT COUNT(*) FROM %q.partnerkit_app`, schema)).Scan(&n); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	return func() {
		_ = tx.Rollback()
		_ = db.Close()
	}
}

// happened is an event of a business of its own.
func happened() partner.Event {
	now := time.Now()
	return partner.Event{ID: id.New(id.Event, now), Type: subscribed, BusinessID: id.New(id.Business, now), Data: []byte(`{}`), CreatedAt: now}
}
