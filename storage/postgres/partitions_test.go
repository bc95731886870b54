package postgres_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// partitioned opens a database whose deliveries are in tables by days, and the host's own
// connection to it.
func partitioned(t testing.TB) (*postgres.DB, *sql.DB) {
	t.Helper()
	url, schema := testenv.Postgres(t)
	db := openDB(t, url, postgres.Config{Schema: schema, MaxConns: 4})
	if _, err := sqlstore.New(t.Context(), db, sqlstore.Config{Partitions: true}); err != nil {
		t.Fatal(err)
	}
	return db, hostDB(t, "pgx", withOption(url, "search_path="+schema))
}

// The cases of the suite hold on partitioned tables too.
func TestStoreOnPartitions(t *testing.T) {
	t.Parallel()
	if !testenv.Proving() {
		t.Skip("TestPartitions_OPER05 is the short form")
	}
	p := proof.Begin(t, "The suite of stores, with deliveries partitioned by days", "databases")
	storetest.RunSending(t, func(t testing.TB) storage.DB {
		p.Tried(1)
		db, _ := partitioned(t)
		return db
	})
}

// OPER-05: what is there becomes the first partition, days have tables before they begin, and
// those of old days are dropped, without waiting for a lock.
func TestPartitions_OPER05(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	cfg := postgres.Config{Schema: schema, MaxConns: 4}
	plain, err := postgres.Open(t.Context(), url, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close() // a node without the switch, which goes on
	host := hostDB(t, "pgx", withOption(url, "search_path="+schema))
	today := time.Now().UTC().Truncate(24 * time.Hour)
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := host.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	deliver := func(day int) {
		t.Helper()
		at := today.AddDate(0, 0, day).Add(time.Hour)
		delivery := id.New(id.Delivery, at)
		run(`INSERT INTO partnerkit_delivery (id, webhook_id, app_id, event_id, event_type, business_id, body, status, attempts, next_attempt_at, created_at)
			VALUES ($1, 'whk_1', 'app_1', $2, 'invoice.created', 'biz_1', '', 'retrying', 1, $3, $3)`, delivery, fmt.Sprint("evt_", day), at.UnixMilli())
		run("INSERT INTO partnerkit_attempt (delivery_id, id, round, number, signature, started_at, took_ms) VALUES ($1, 'att_1', 0, 1, '', 0, 0)", delivery)
		run("INSERT INTO partnerkit_delivery_queue (webhook_id, due_at, delivery_id, shard) VALUES ('whk_1', $2, $1, $3)", delivery, at.UnixMilli(), webhookstore.ShardOf("whk_1", webhookstore.DefaultShards))
	}
	deliver(-2)
	deliver(0)
	cfg.Partitions = true
	divided, err := postgres.Open(t.Context(), url, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := divided.Close(); err != nil {
		t.Fatal(err)
	}
	cfg.Partitions = false // the tables stay divided
	store, err := postgres.Open(t.Context(), url, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, day := range []int{2, 3, 4, 5, 7, 20} {
		deliver(day)
	}
	has := func(step string, want map[string]int) {
		t.Helper()
		got := map[string]int{}
		rows, err := host.QueryContext(t.Context(), "SELECT replace(tableoid::regclass::text, 'partnerkit_delivery_', ''), count(*) FROM partnerkit_delivery GROUP BY 1")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		total := 0
		for rows.Next() {
			var name string
			var n int
			if err := rows.Scan(&name, &n); err != nil {
				t.Fatal(err)
			}
			got[name], total = n, total+n
		}
		if diff := cmp.Diff(want, got); diff != "" || rows.Err() != nil {
			t.Errorf("%s: %v, deliveries by table (-want +got):\n%s", step, rows.Err(), diff)
		}
		for _, table := range []string{"partnerkit_attempt", "partnerkit_delivery_queue"} {
			var n int
			if err := host.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != total {
				t.Errorf("%s: %s has %d rows, %v; want %d", step, table, n, err, total)
			}
		}
	}
	name := func(day int) string { return today.AddDate(0, 0, day).Format("20060102") }
	purge := func(day int) int {
		t.Helper()
		n, err := store.Purge(t.Context(), storage.Purge{Kind: storage.PurgeDeliveries, Before: today.AddDate(0, 0, day).Add(2 * time.Hour), Limit: 200})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	has("divided", map[string]int{"before": 3, name(3): 1, name(4): 1, name(5): 1, name(7): 1, "other": 1})
	if n := purge(0); n != 2 {
		t.Errorf("purged %d one by one, want the 2 of the first partition", n)
	}
	has("the first partition purged", map[string]int{"before": 1, name(3): 1, name(4): 1, name(5): 1, name(7): 1, "other": 1})
	end := holdDeliveries(t, host)
	purge(5) // it does not wait for the reader
	end()
	has("while somebody reads", map[string]int{name(3): 1, name(4): 1, name(5): 1, name(7): 1, "other": 1})
	purge(5)
	has("days dropped", map[string]int{name(5): 1, name(7): 1, "other": 1})
	var left int
	if err := host.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_inherits WHERE inhparent = 'partnerkit_attempt'::regclass").Scan(&left); err != nil || left != 4 { // three days and the default
		t.Errorf("%d tables of attempts, %v", left, err)
	}
	if n := purge(30); n != 1 {
		t.Errorf("purged %d one by one, want the one of a day without a table", n)
	}
	has("everything purged", map[string]int{})
	// Another node makes the days again, except for the one that has a row already.
	deliver(4)
	again, err := postgres.Open(t.Context(), url, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	deliver(5)
	has("made again", map[string]int{"other": 1, name(5): 1})
	if _, err := plain.Purge(t.Context(), storage.Purge{Kind: storage.PurgeDeliveries, Before: today, Limit: 200}); err != nil {
		t.Errorf("a node that was opened before: %v", err)
	}
}

// holdDeliveries reads deliveries in a transaction that stays open.
func holdDeliveries(t *testing.T, host *sql.DB) (end func()) {
	t.Helper()
	tx, err := host.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT 1 FROM partnerkit_delivery LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// OPER-05: a check of ids that a process left which died while it divided the tables ends when a
// store is opened without the switch. Later days would be rejected otherwise.
func TestLeftOfDividing_OPER05(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	cfg := postgres.Config{Schema: schema, MaxConns: 2}
	reopen := func() {
		t.Helper()
		store, err := postgres.Open(t.Context(), url, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
	reopen()
	host := hostDB(t, "pgx", withOption(url, "search_path="+schema))
	for _, statement := range []string{
		"ALTER TABLE partnerkit_delivery ADD CONSTRAINT pk_first_days CHECK (id < 'dlv_0') NOT VALID",
		"ALTER TABLE partnerkit_attempt ADD CONSTRAINT pk_first_days CHECK (delivery_id < 'dlv_0') NOT VALID",
	} {
		if _, err := host.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	reopen()
	var left int
	if err := host.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pg_constraint WHERE conname = 'pk_first_days' AND connamespace = $1::regnamespace", schema).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d checks are left, %v", left, err)
	}
}
