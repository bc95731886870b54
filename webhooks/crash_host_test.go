//go:build unix

package webhooks_test

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

const crashBusiness = "biz_crash"

// crashEvents are what is recorded, the second now and then.
var crashEvents = []string{"invoice.created", "customer.created"}

// crashHost is the configuration of a process that may be killed.
type crashHost struct {
	File   string        // of SQLite, or
	Schema string        // of PostgreSQL
	Door   string        // the address of all its requests, for every URL
	Ahead  time.Duration // of the platform's clock
	Pause  time.Duration // of a writer between two events, at most
}

// open opens the database that all of them share.
func (h crashHost) open(ctx context.Context) (*sqlstore.Store, error) {
	if h.File != "" {
		return sqlite.Open(ctx, sqlite.Config{Path: h.File, Logger: h.log()})
	}
	return postgres.Open(ctx, os.Getenv(testenv.PostgresVar), postgres.Config{Schema: h.Schema, MaxConns: 5, Logger: h.log()})
}

func (crashHost) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// table is one of the database, for statements that are not the store's.
func (h crashHost) table(name string) string {
	if h.Schema == "" {
		return name
	}
	return `"` + h.Schema + `".` + name
}

// newCrash makes the database, with a table of the host's own and an app for each
// endpoint.
func newCrash(t *testing.T, host crashHost) *crash {
	t.Helper()
	c := &crash{T: t, host: host, address: map[string]string{}, ledger: newLedger()}
	store, err := host.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &harness{t: t, clock: new(clock.Offset), Env: &storetest.Env{Store: store}}
	r.svc, err = webhooks.New(webhooks.Config{Store: store, Keyring: fixture.Keyring(1), Options: webhooks.Options{AllowLoopback: true}})
	r.must(err)
	for _, e := range crashEndpoints {
		a := r.app(e.address, e.subscribes()...)
		r.connect(a, crashBusiness, scopes)
		c.address[a.webhook.ID] = e.address
	}
	tx, err := store.BeginTx(t.Context())
	r.must(err)
	_, err = tx.Exec(t.Context(), "CREATE TABLE "+host.table("crash_record")+" (event_id TEXT PRIMARY KEY)")
	r.must(err)
	r.must(tx.Commit(t.Context()))
	r.must(store.Close())
	return c
}
