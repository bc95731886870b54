package migrations_test

import (
	"bytes"
	"database/sql"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

// target is an empty database.
type target struct {
	dialect goose.Dialect
	driver  string
	dsn     string
	// open opens the store of the database.
	open func(skipMigrations bool, logger *slog.Logger) (*sqlstore.Store, error)
}

func onSQLite(t testing.TB) target {
	path := filepath.Join(t.TempDir(), "goose.db")
	return target{goose.DialectSQLite3, "sqlite", path, func(skip bool, logger *slog.Logger) (*sqlstore.Store, error) {
		return sqlite.Open(t.Context(), sqlite.Config{Path: path, SkipMigrations: skip, Logger: logger})
	}}
}

func onPostgres(t testing.TB) target {
	url, schema := testenv.Postgres(t)
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	dsn := url + separator + "search_path=" + schema
	db := openSQL(t, "pgx", url)
	if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+schema); err != nil {
		t.Fatal(err)
	}
	return target{goose.DialectPostgres, "pgx", dsn, func(skip bool, logger *slog.Logger) (*sqlstore.Store, error) {
		return postgres.Open(t.Context(), url, postgres.Config{Schema: schema, MaxConns: 4, SkipMigrations: skip, Logger: logger})
	}}
}

var targets = map[string]func(testing.TB) target{"SQLite": onSQLite, "PostgreSQL": onPostgres}

func openSQL(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// up applies all files with goose and returns how many it applied.
func (to target) up(t testing.TB) int {
	t.Helper()
	db := openSQL(t, to.driver, to.dsn)
	provider, err := goose.NewProvider(to.dialect, db, sqlstore.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	results, err := provider.Up(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := provider.Close(); err != nil {
		t.Fatal(err)
	}
	return len(results)
}

// goose applies every file once. The store then opens without migrating, and finds
// nothing to migrate when it may.
func TestGoose(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(sqlstore.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for name, on := range targets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := on(t)
			if applied := to.up(t); applied != len(files) {
				t.Errorf("goose applied %d of %d files", applied, len(files))
			}
			if again := to.up(t); again != 0 {
				t.Errorf("goose applied %d files again", again)
			}
			for _, skip := range []bool{true, false} {
				var logged bytes.Buffer
				store, err := to.open(skip, slog.New(slog.NewTextHandler(&logged, nil)))
				if err != nil {
					t.Fatalf("SkipMigrations %t: %v", skip, err)
				}
				if _, err := store.AdvanceClock(t.Context(), 1); err != nil {
					t.Error(err)
				}
				if err := store.Close(); err != nil {
					t.Error(err)
				}
				if strings.Contains(logged.String(), "migrated") {
					t.Errorf("SkipMigrations %t: %s", skip, &logged)
				}
			}
		})
	}
}

// A store on tables of goose is a store as any other.
func TestStoreOnGoose(t *testing.T) {
	if !testenv.Proving() {
		t.Skip("takes minutes; see make prove")
	}
	t.Parallel()
	for name, on := range targets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on(t) // skips the whole suite where there is no such database
			storetest.Run(t, func(t testing.TB) partnerkit.Store {
				to := on(t)
				to.up(t)
				store, err := to.open(true, nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = store.Close() })
				return store
			})
		})
	}
}
