package pgxpool_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnerkit/partnerkit"
	recipe "github.com/partnerkit/partnerkit/examples/recipes/pgxpool"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

// The row and the event are there together, or not at all.
func TestAddInvoice(t *testing.T) {
	ctx := t.Context()
	cfg, err := pgxpool.ParseConfig(testenv.PostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = 6
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(ctx, "CREATE TABLE invoice (id TEXT PRIMARY KEY, business_id TEXT NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	store, err := recipe.Open(ctx, pool, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	h := partnertest.New(t, func(c *partnerkit.Config) { c.Store, c.CompileSchema = store, nil })
	app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"events:read", "invoices:read"}})
	hook := h.Receiver(app, "invoice.created")
	if err := recipe.AddInvoice(ctx, pool, h.Platform, partnertest.Business, "inv_1"); err != nil {
		t.Fatal(err)
	}
	if err := recipe.AddInvoice(ctx, pool, h.Platform, partnertest.Business, "inv_1"); err == nil {
		t.Error("the same invoice twice")
	}
	h.Settle()
	hook.Expect("invoice.created")
	hook.ExpectNone()
	var rows int
	if err := pool.QueryRow(ctx, "SELECT COUNT(*) FROM invoice").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
}
