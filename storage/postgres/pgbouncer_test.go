package postgres_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// bouncers starts PgBouncer as the tests find it, and, from 1.21 on, with its own support for
// prepared statements too.
func bouncers(t *testing.T, run func(t *testing.T, pooler testenv.PgBouncer, server string)) {
	t.Helper()
	server, _ := testenv.Postgres(t)
	t.Run("OPER-01_names_pass_through", func(t *testing.T) {
		t.Parallel()
		pooler := testenv.StartPgBouncer(t, server)
		if pooler.Prepares {
			pooler = testenv.StartPgBouncer(t, server, "max_prepared_statements = 0")
		}
		pooler.Prepares = false
		run(t, pooler, server)
	})
	t.Run("OPER-01_names_are_managed", func(t *testing.T) {
		t.Parallel()
		pooler := testenv.StartPgBouncer(t, server, "ignore_startup_parameters = idle_in_transaction_session_timeout")
		if !pooler.Prepares {
			t.Skipf("this PgBouncer does not support prepared statements: %s names one from 1.21 on", testenv.PgBouncerVar)
		}
		run(t, pooler, server)
	})
}

// OPER-01: the suite of stores passes through PgBouncer in transaction mode.
func TestStoreThroughPgBouncer(t *testing.T) {
	t.Parallel()
	bouncers(t, func(t *testing.T, pooler testenv.PgBouncer, server string) {
		direct := reused(t)
		open := func(t testing.TB) storage.DB {
			made := direct(t) // it has the tables, and another case may use them later
			return openDB(t, pooler.URL, postgres.Config{Schema: made.Dialect().Schema, MaxConns: 4})
		}
		storetest.Run(t, storetest.OnSQL(open))
		if !testenv.Proving() { // the cases with faults take longer, and send the same statements
			return
		}
		empty := func(t testing.TB) storage.DB {
			_, schema := testenv.Postgres(t)
			return openDB(t, pooler.URL, postgres.Config{Schema: schema, MaxConns: 4, DirectURL: server})
		}
		storetest.RunSQL(t, empty, testdb.Opener(open))
	})
}

// Open says once what a pooler costs, and Listen says that nothing arrives through it. With
// DirectURL, notifications arrive.
func TestPgBouncer(t *testing.T) {
	t.Parallel()
	bouncers(t, func(t *testing.T, pooler testenv.PgBouncer, server string) {
		var log logtest.Buffer
		_, schema := testenv.Postgres(t)
		cfg := postgres.Config{Schema: schema, MaxConns: 3, Logger: slog.New(slog.NewTextHandler(&log, nil))}
		store, err := postgres.Open(t.Context(), pooler.URL, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		for range 20 {
			if _, err := store.AdvanceClock(t.Context(), 1e9); err != nil {
				t.Fatal(err)
			}
		}
		want := 1
		if pooler.Prepares {
			want = 0
		}
		if n := log.Count("not prepared"); n != want {
			t.Errorf("%d times said that statements are not prepared, want %d: %s", n, want, log.String())
		}
		db := openDB(t, pooler.URL, cfg)
		if err := db.Listen(t.Context(), func(string) {}); !errors.Is(err, storage.ErrNoListen) || !strings.Contains(err.Error(), "DirectURL") {
			t.Errorf("listen through the pooler: %v", err)
		}
		cfg.DirectURL = server
		hears(t, openDB(t, pooler.URL, cfg), openDB(t, pooler.URL, cfg))
	})
}

// hears fails the test unless one database hears what the other announces.
func hears(t *testing.T, one, other *postgres.DB) {
	t.Helper()
	heard, ended := make(chan string, 10), make(chan error, 1)
	go func() { ended <- one.Listen(t.Context(), func(topic string) { heard <- topic }) }()
	for want := range strings.SplitSeq(","+sqlstore.TopicClock, ",") {
		select {
		case got := <-heard:
			if got != want {
				t.Errorf("heard %q, want %q", got, want)
			}
		case err := <-ended:
			t.Fatalf("Listen: %v", err)
		}
		if want == "" { // it listens
			if err := other.Announce(t.Context(), sqlstore.TopicClock); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Listen of a database that was closed: %v", err)
	}
}

// Databases that only speak PostgreSQL's protocol are refused with the reason.
func TestOtherServers(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]string{
		"CockroachDB": "CockroachDB CCL v24.3.0 (x86_64-pc-linux-gnu, built 2024/11/18)",
		"YugabyteDB":  "PostgreSQL 15.2-YB-2.25.1.0-b0 on x86_64-pc-linux-gnu",
		"PostgreSQL":  "PostgreSQL 15.8",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, schema := testenv.Postgres(t)
			host := hostDB(t, "pgx", url)
			for _, text := range []string{
				`CREATE SCHEMA "` + schema + `"`,
				`CREATE FUNCTION "` + schema + `".version() RETURNS text LANGUAGE sql AS 'SELECT ''` + version + `'''`,
			} {
				if _, err := host.ExecContext(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			_, err := postgres.Open(t.Context(), withOption(url, "search_path="+schema+",pg_catalog"), postgres.Config{SkipMigrations: true})
			if want := name + ", which is not supported"; name != "PostgreSQL" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("Open: %v, want an error with %q", err, want)
			}
			if name == "PostgreSQL" && !errors.Is(err, storage.ErrOlderSchema) {
				t.Errorf("Open: %v", err)
			}
		})
	}
}
