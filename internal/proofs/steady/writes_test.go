package steady_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// exec runs statements in a transaction.
func (p *platform) exec(statements ...string) {
	p.t.Helper()
	tx, err := p.BeginTx(p.t.Context())
	p.must(err)
	defer tx.Rollback()
	for _, one := range statements {
		if _, err := tx.Exec(p.t.Context(), one); err != nil {
			p.t.Fatalf("%v in %s", err, one)
		}
	}
	p.must(tx.Commit(p.t.Context()))
}

func (p *platform) number(query string) (n int) {
	p.t.Helper()
	p.must(storage.One(p.t.Context(), p.Store, query, nil, &n))
	return n
}

// delivered records n events of a business with one webhook, and waits until they are delivered
// and recorded.
func (p *platform) delivered(n int) {
	p.t.Helper()
	svc, log := p.service(clock.System{})
	p.run(svc)
	p.subscriber(svc, "biz_1")
	for range 5 { // so that the endpoint is known to work
		p.latency(log, "biz_1")
	}
	p.settled(svc.Settle)
	before := p.total()
	p.begun()
	p.recordMany(log, n, "biz_1")
	for p.total()-before < n {
		time.Sleep(5 * time.Millisecond)
	}
	p.settled(svc.Settle)
}

// What an event with one subscriber writes: entries put into or taken from tables and indexes of
// SQLite, where a table without rowids is its primary key.
func TestEntriesOfAnEvent(t *testing.T) {
	testenv.Long(t)
	n := testenv.Rounds(1000, 10_000)
	p := &platform{t: t, arrived: map[string]time.Time{}}
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: t.TempDir() + "/writes.db"})
	p.begin(store, err)
	of := proof.Begin(t, "Entries in tables and indexes for an event with one subscriber", "events")
	count := func() map[string]int {
		all := map[string]int{}
		p.must(storage.Each(t.Context(), p.Store, "SELECT name, n FROM entries", nil, func(scan func(...any) error) error {
			var name string
			var n int
			err := scan(&name, &n)
			all[name] = n
			return err
		}))
		return all
	}
	p.exec(p.counters()...)
	var before map[string]int
	p.begun = func() { before = count() }
	p.delivered(n)
	total, each := 0, ""
	for name, after := range count() {
		if is := after - before[name]; is > 0 {
			total += is
			each += fmt.Sprintf(" %s %.2f", strings.TrimPrefix(name, "partnerkit_"), float64(is)/float64(n))
		}
	}
	of.Tried(n)
	of.Notef("%.1f entries an event", float64(total)/float64(n))
	t.Logf("%.2f entries an event:%s", float64(total)/float64(n), each)
	if total > 18*n {
		t.Errorf("%.2f entries an event, at most 18 are allowed", float64(total)/float64(n))
	}
}

// counters are triggers that count entries by table.
func (p *platform) counters() []string {
	p.t.Helper()
	statements := []string{"CREATE TABLE entries (name TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID"}
	type table struct{ name, sql string }
	var tables []table
	p.must(storage.Each(p.t.Context(), p.Store, "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name LIKE 'partnerkit_%'", nil, func(scan func(...any) error) error {
		var one table
		err := scan(&one.name, &one.sql)
		tables = append(tables, one)
		return err
	}))
	for _, one := range tables {
		base := 2 // the table and the index of its primary key
		if strings.Contains(one.sql, "WITHOUT ROWID") {
			base = 1
		}
		whole := p.number("SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = '" + one.name + "' AND sql NOT LIKE '% WHERE %'")
		sum := func(row string) string {
			text := fmt.Sprint(base + whole)
			if one.name == "partnerkit_delivery" {
				text += fmt.Sprintf(" + (%s.event_id IS NOT NULL) + (%s.status IS NOT NULL)", row, row)
			}
			return text
		}
		statements = append(statements, fmt.Sprintf("INSERT INTO entries VALUES ('%s', 0)", one.name))
		for event, entries := range map[string]string{"INSERT": sum("NEW"), "DELETE": sum("OLD"), "UPDATE": "1"} {
			statements = append(statements, fmt.Sprintf("CREATE TRIGGER count_%s_%s AFTER %s ON %s BEGIN UPDATE entries SET n = n + %s WHERE name = '%s'; END",
				one.name, event, event, one.name, entries, one.name))
		}
	}
	return statements
}

// What an event with one subscriber leaves in PostgreSQL: bytes of its log, and of tables and
// indexes.
func TestBytesOfAnEvent(t *testing.T) {
	testenv.Long(t)
	n := testenv.Rounds(2000, 20_000)
	p := onPostgres(t)
	of := proof.Begin(t, "Bytes of PostgreSQL for an event with one subscriber", "events")
	var log, size int
	sizes := "SELECT CAST(SUM(pg_total_relation_size(c.oid)) AS BIGINT) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '" + p.Dialect().Schema + "' AND c.relkind = 'r'"
	logged := "SELECT CAST(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS BIGINT)"
	p.begun = func() { log, size = p.number(logged), p.number(sizes) }
	p.delivered(n)
	log, size = p.number(logged)-log, p.number(sizes)-size
	of.Tried(n)
	of.Notef("%.1f kB of log, which others share, and %.1f kB of tables an event", float64(log)/float64(n)/1000, float64(size)/float64(n)/1000)
	t.Logf("%d bytes of log and %d of tables an event", log/n, size/n)
	p.must(storage.Each(t.Context(), p.Store, "SELECT relname, n_tup_upd, n_tup_hot_upd, n_dead_tup FROM pg_stat_user_tables WHERE schemaname = '"+p.Dialect().Schema+"' AND n_tup_upd > 0", nil,
		func(scan func(...any) error) error {
			var table string
			var updates, hot, dead int
			err := scan(&table, &updates, &hot, &dead)
			t.Logf("%s: %d updates, %d of them in place (HOT), %d dead rows", table, updates, hot, dead)
			return err
		}))
}
