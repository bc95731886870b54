package postgres_test

import (
	"database/sql"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

// partitioned opens a database whose deliveries are in tables by days, as
// docs/operations.md tells, and the host's own connection to it.
func partitioned(t testing.TB) (*postgres.DB, *sql.DB) {
	t.Helper()
	url, schema := testenv.Postgres(t)
	db := openDB(t, url, postgres.Config{Schema: schema, MaxConns: 4})
	if _, err := sqlstore.New(t.Context(), db, sqlstore.Config{}); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("../../docs/partitions.sql")
	if err != nil {
		t.Fatal(err)
	}
	host := hostDB(t, "pgx", withOption(url, "search_path="+schema))
	if _, err := host.ExecContext(t.Context(), string(script)); err != nil {
		t.Fatal(err)
	}
	return db, host
}

// The cases of the suite hold on partitioned tables too.
func TestStoreOnPartitions(t *testing.T) {
	t.Parallel()
	if !testenv.Proving() {
		t.Skip("TestPartitions is the short form")
	}
	p := proof.Begin(t, "The suite of stores, with deliveries partitioned by days", "databases")
	storetest.RunSending(t, func(t testing.TB) storage.DB {
		p.Tried(1)
		db, _ := partitioned(t)
		return db
	})
}

// Days begin where ids say, go in one piece, and purging takes what is left.
func TestPartitions(t *testing.T) {
	t.Parallel()
	db, host := partitioned(t)
	store, err := sqlstore.New(t.Context(), db, sqlstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	midnight := time.Now().UTC().Truncate(24 * time.Hour)
	for day := range 2000 {
		at := midnight.AddDate(0, 0, day-1000)
		var first string
		if err := host.QueryRowContext(t.Context(), "SELECT partnerkit_first_of($1)", at.Format(time.DateOnly)).Scan(&first); err != nil {
			t.Fatal(err)
		}
		if last := id.New(id.Delivery, at.Add(-time.Nanosecond)); last >= first || id.Floor(id.Delivery, at) < first {
			t.Fatalf("%v begins at %s: after %s, or not before %s", at, first, last, id.Floor(id.Delivery, at))
		}
	}
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := host.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	for day := range 5 { // the first of them in the table that there was
		at := midnight.AddDate(0, 0, day).Add(time.Hour)
		delivery := id.New(id.Delivery, at)
		run(`INSERT INTO partnerkit_delivery (id, webhook_id, app_id, event_id, event_type, business_id, body, status, attempts, next_attempt_at, created_at)
			VALUES ($1, 'whk_1', 'app_1', $2, 'invoice.created', 'biz_1', '', 'retrying', 1, $3, $3)`, delivery, fmt.Sprint("evt_", day), at.UnixMilli())
		run("INSERT INTO partnerkit_attempt (delivery_id, id, round, number, signature, started_at, took_ms) VALUES ($1, 'att_1', 0, 1, '', 0, 0)", delivery)
		run("INSERT INTO partnerkit_delivery_queue (webhook_id, due_at, delivery_id, shard) VALUES ('whk_1', $2, $1, $3)", delivery, at.UnixMilli(), webhooks.ShardOf("whk_1", webhooks.DefaultShards))
	}
	has := func(step string, want int) {
		t.Helper()
		for _, table := range []string{"partnerkit_delivery", "partnerkit_attempt", "partnerkit_delivery_queue"} {
			var n int
			if err := host.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil || n != want {
				t.Errorf("%s: %s has %d rows, %v; want %d", step, table, n, err, want)
			}
		}
	}
	has("before", 5)
	run("SELECT partnerkit_add_day($1)", midnight.AddDate(0, 0, 1).Format(time.DateOnly)) // it is there
	run("SELECT partnerkit_add_day($1)", midnight.AddDate(0, 0, 9).Format(time.DateOnly))
	if n, err := store.Purge(t.Context(), storage.Purge{Kind: storage.PurgeDeliveries, Before: midnight.AddDate(0, 0, 2), Limit: 200}); err != nil || n != 2 {
		t.Errorf("purged %d, %v", n, err)
	}
	has("two days purged", 3)
	var dropped int
	if err := host.QueryRowContext(t.Context(), "SELECT partnerkit_drop_days($1)", midnight.AddDate(0, 0, 4).Format(time.DateOnly)).Scan(&dropped); err != nil || dropped != 6 {
		t.Errorf("dropped %d, %v", dropped, err)
	}
	has("three days dropped", 1)
}
