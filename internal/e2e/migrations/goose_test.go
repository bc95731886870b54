package migrations_test

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
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

// goose makes the same tables, indexes and rows as the library does. On SQLite some tables of
// the library are WITHOUT ROWID, and those of goose are not.
func TestSameTables(t *testing.T) {
	t.Parallel()
	for name, on := range targets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := on(t), on(t)
			store, err := ours.open(false, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			theirs.up(t)
			want, got := ours.describe(t), theirs.describe(t)
			if len(want) < 100 { // a line at least for each column
				t.Fatalf("the library made only %q", want)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("made by the library (-) and by goose (+):\n%s", diff)
			}
		})
	}
}

// A store on SQLite tables of goose is a store as any other. The tables are what is tested
// here, so make prove runs few rounds of each race.
func TestStoreOnGoose(t *testing.T) {
	t.Parallel()
	if !testenv.Proving() {
		t.Skip("takes minutes; see make prove")
	}
	storetest.Run(t, func(t testing.TB) partnerkit.Store {
		to := onSQLite(t)
		to.up(t)
		store, err := to.open(true, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return store
	})
}

// rowTexts select what migrations insert.
var rowTexts = []string{
	"SELECT 'migration ' || number || ' ' || name || ' ' || minimum FROM partnerkit_migration",
}

// tableTexts select a line for each column, index and constraint of a database. On SQLite the
// columns of a primary key are NOT NULL in a table WITHOUT ROWID only.
var tableTexts = map[goose.Dialect][]string{
	goose.DialectSQLite3: {
		"SELECT m.name || '.' || c.name || ' ' || c.type || ' ' || (c.\"notnull\" OR c.pk) || ' ' || c.pk || ' ' || COALESCE(c.dflt_value, '') FROM sqlite_master m, pragma_table_xinfo(m.name) c WHERE m.type = 'table' AND m.name LIKE 'partnerkit%'",
		"SELECT replace(sql, ' WITHOUT ROWID', '') FROM sqlite_master WHERE tbl_name LIKE 'partnerkit%' AND sql IS NOT NULL",
	},
	goose.DialectPostgres: {
		"SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || COALESCE(column_default, '') FROM information_schema.columns WHERE table_schema = current_schema() AND table_name LIKE 'partnerkit%'",
		"SELECT replace(indexdef, current_schema() || '.', '') FROM pg_indexes WHERE schemaname = current_schema() AND tablename LIKE 'partnerkit%'",
		"SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = current_schema()::regnamespace AND conrelid::regclass::text LIKE 'partnerkit%'",
	},
}

var (
	comment = regexp.MustCompile(`--[^\n]*`) // goose leaves them out
	spaces  = regexp.MustCompile(`\s+`)
)

// describe returns the definitions of the library's tables and the rows that migrations
// insert, in order.
func (to target) describe(t testing.TB) (lines []string) {
	t.Helper()
	db := openSQL(t, to.driver, to.dsn)
	for _, query := range slices.Concat(tableTexts[to.dialect], rowTexts) {
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			lines = append(lines, strings.TrimSpace(spaces.ReplaceAllString(comment.ReplaceAllString(line, ""), " ")))
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(lines)
	return lines
}
