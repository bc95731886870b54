package postgres_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

func TestMain(m *testing.M) {
	if child() {
		return
	}
	sql.Register(otherDriver, wrapped{stdlib.GetDefaultDriver()})
	postgres.SetSilence(time.Second)
	goleak.VerifyTestMain(m)
}

func open(t testing.TB) storage.DB {
	t.Helper()
	url, schema := testenv.Postgres(t)
	return openDB(t, url, postgres.Config{Schema: schema, MaxConns: 4})
}

func openDB(t testing.TB, url string, cfg postgres.Config) *postgres.DB {
	t.Helper()
	db, err := postgres.OpenDB(t.Context(), url, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// hostDB is a database that the host opened, with a driver by that name.
func hostDB(t testing.TB, driver, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(4)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.OnSQL(reused(t)))
}

func TestDatabase(t *testing.T) {
	t.Parallel()
	storetest.RunSQL(t, open, reused(t))
}

// New accepts a host's own database with any driver, and leaves it open.
func TestHostsDatabase(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	host := hostDB(t, "pgx", url)
	store, err := postgres.New(t.Context(), host, postgres.Config{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.AdvanceClock(t.Context(), 1e9); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := host.PingContext(t.Context()); err != nil {
		t.Errorf("the host's database after Close of the store: %v", err)
	}
}

// Without a schema the tables are where the connection's search path says.
func TestSearchPath(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	admin := hostDB(t, "pgx", url)
	if _, err := admin.ExecContext(t.Context(), `CREATE SCHEMA "`+schema+`"`); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), withOption(url, "search_path="+schema), postgres.Config{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.AdvanceClock(t.Context(), 1e9); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := admin.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM "`+schema+`".partnerkit_clock`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// withOption adds an option to a URL.
func withOption(url, option string) string {
	if strings.Contains(url, "?") {
		return url + "&" + option
	}
	return url + "?" + option
}
