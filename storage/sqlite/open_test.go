package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// A database that cannot be opened is a clear error that names the file.
func TestOpenRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("no database at all. ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ path, want string }{
		"no path":      {"", "Config.Path is empty"},
		"no directory": {filepath.Join(dir, "absent", "x.db"), "must exist and be writable"},
		"not a file":   {dir, dir},
		"no database":  {garbage, "not an SQLite file"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := sqlite.Open(t.Context(), sqlite.Config{Path: test.path})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.path) {
				t.Errorf("error %v, want one with %q and the path", err, test.want)
			}
		})
	}
}

// A new database is its owner's to read, and what SQLite puts beside it; one that is
// there keeps its mode.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	for _, want := range []os.FileMode{0o600, 0o640} {
		path := filepath.Join(t.TempDir(), "x.db")
		if want != 0o600 {
			if err := os.WriteFile(path, nil, want); err != nil { //nolint:gosec // the mode is the test
				t.Fatal(err)
			}
		}
		store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{"", "-wal", "-shm"} {
			info, err := os.Stat(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode().Perm(); got != want {
				t.Errorf("%s has mode %o, want %o", info.Name(), got, want)
			}
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Names that mean something in a URL are just names.
func TestOddPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b.db", "a?mode=ro.db", "a%20b.db", "a#b.db", "käse.db", "a&b=c.db"} {
		path := filepath.Join(t.TempDir(), name)
		store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := store.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An in-memory database leaves nothing behind.
func TestMemoryIsRemoved(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// What a store wrote is there when the file is opened again.
func TestReopen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "again.db")
	for i := range 3 {
		store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if offset, err := store.AdvanceClock(t.Context(), 1e9); err != nil || offset.Seconds() != float64(i+1) {
			t.Errorf("offset %v, %v", offset, err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Older code starts on a database with a newer additive migration, and refuses
// one that asks for newer code; a migration that fails changes nothing.
func TestSchemaVersions(t *testing.T) {
	t.Parallel()
	first := migrationFile("CREATE TABLE partnerkit_one (id BIGINT PRIMARY KEY)", 1, "one", 1)
	second := func(minimum int) *fstest.MapFile {
		return migrationFile("CREATE TABLE partnerkit_two (id BIGINT PRIMARY KEY)", 2, "two", minimum)
	}
	old := fstest.MapFS{"0001_one.sql": first}
	additive := fstest.MapFS{"0001_one.sql": first, "0002_two.sql": second(1)}
	breaking := fstest.MapFS{"0001_one.sql": first, "0002_two.sql": second(2)}
	broken := fstest.MapFS{"0001_one.sql": first, "0002_two.sql": migrationFile("CREATE TABLE partnerkit_two (id BIGINT); CREATE TABLE partnerkit_one (id BIGINT)", 2, "two", 1)}

	tests := []struct {
		name string
		runs []fstest.MapFS // each on the same file
		want []string       // part of each error
	}{
		{"up to date", []fstest.MapFS{additive, additive}, []string{"", ""}},
		{"one behind", []fstest.MapFS{old, additive}, []string{"", ""}},
		{"additive, older code", []fstest.MapFS{additive, old, additive}, []string{"", "", ""}},
		{"breaking, older code", []fstest.MapFS{breaking, old, breaking}, []string{"", "needs newer code", ""}},
		{"broken, then mended", []fstest.MapFS{broken, additive}, []string{"0002_two", ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "versions.db")
			for i, files := range test.runs {
				err := openWith(t, path, sqlstore.Config{Migrations: files})
				if (err == nil) != (test.want[i] == "") || err != nil && !strings.Contains(err.Error(), test.want[i]) {
					t.Errorf("run %d: %v, want %q", i, err, test.want[i])
				}
				if test.want[i] == "needs newer code" && !errors.Is(err, storage.ErrNewerSchema) {
					t.Errorf("run %d: %v is not ErrNewerSchema", i, err)
				}
			}
		})
	}
}

// With SkipMigrations the error names the missing migrations and explains how to apply
// them.
func TestSkipMigrations(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "skip.db")
	wantMissing := func(which string) {
		t.Helper()
		_, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, SkipMigrations: true})
		if !errors.Is(err, storage.ErrOlderSchema) || !strings.Contains(err.Error(), which) || !strings.Contains(err.Error(), "sqlstore.Migrations") || strings.Contains(err.Error(), "no such table") {
			t.Errorf("%v, want %s", err, which)
		}
	}
	wantMissing("it has no tables")
	first := fstest.MapFS{}
	for _, name := range []string{"0001_clock.sql", "0002_oauth.sql"} {
		text, err := fs.ReadFile(sqlstore.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		first[name] = &fstest.MapFile{Data: text}
	}
	if err := openWith(t, path, sqlstore.Config{Migrations: first}); err != nil {
		t.Fatal(err)
	}
	wantMissing("migrations 3 to ")
	if err := openWith(t, path, sqlstore.Config{}); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, SkipMigrations: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// The order of migrations is never guessed.
func TestMigrationFiles(t *testing.T) {
	t.Parallel()
	a := migrationFile("SELECT 1", 1, "a", 1)
	for name, files := range map[string]fstest.MapFS{
		"gap":                   {"0001_a.sql": a, "0003_b.sql": migrationFile("SELECT 1", 3, "b", 1)},
		"twice":                 {"0001_a.sql": a, "0001_b.sql": migrationFile("SELECT 1", 1, "b", 1)},
		"name":                  {"1_a.sql": a},
		"no record":             {"0001_a.sql": {Data: []byte("SELECT 1;")}},
		"record of another":     {"0001_a.sql": migrationFile("SELECT 1", 1, "b", 1)},
		"minimum beyond itself": {"0001_a.sql": migrationFile("SELECT 1", 1, "a", 2)},
	} {
		if err := openWith(t, filepath.Join(t.TempDir(), "x.db"), sqlstore.Config{Migrations: files}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// migrationFile is a migration that records itself.
func migrationFile(statements string, number int, name string, minimum int) *fstest.MapFile {
	return &fstest.MapFile{Data: fmt.Appendf(nil, "%s; INSERT INTO partnerkit_migration (number, name, minimum) VALUES (%d, '%s', %d);", statements, number, name, minimum)}
}

// A tool of the host's can run the files as they are.
func TestMigrationsByAnotherTool(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tool.db")
	tool, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(sqlstore.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(sqlstore.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "-- +goose Up\n") {
			t.Errorf("%s: goose needs its annotation first", name)
		}
		if _, err := tool.ExecContext(t.Context(), string(text)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if err := tool.Close(); err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []sqlstore.Config{{SkipMigrations: true}, {}} {
		if err := openWith(t, path, cfg); err != nil {
			t.Error(err)
		}
	}
}

func openWith(t *testing.T, path string, cfg sqlstore.Config) error {
	t.Helper()
	db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	_, err = sqlstore.New(t.Context(), db, cfg)
	if closing := db.Close(); closing != nil {
		t.Error(closing)
	}
	return err
}

// OPER-03: a file for PostgreSQL that builds an index concurrently runs here too, and Run fills
// the rows that were there before a column, in small transactions.
func TestBackfill_OPER03(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	files := fstest.MapFS{
		"0001_one.sql": migrationFile("CREATE TABLE partnerkit_one (id TEXT PRIMARY KEY); CREATE TABLE partnerkit_backfill (name TEXT PRIMARY KEY, place TEXT NOT NULL, is_done BOOLEAN NOT NULL); "+
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) INSERT INTO partnerkit_one (id) SELECT printf('%05d', i) FROM n", 1, "one", 1),
	}
	if err := openWith(t, path, sqlstore.Config{Migrations: files}); err != nil {
		t.Fatal(err)
	}
	files["0002_two.sql"] = migrationFile("-- +goose NO TRANSACTION\nALTER TABLE partnerkit_one ADD COLUMN twice TEXT; CREATE INDEX CONCURRENTLY pk_one_twice ON partnerkit_one (twice)", 2, "two", 1)
	fill := sqlstore.Backfill{Name: "one.twice", Update: "UPDATE partnerkit_one SET twice = id || id WHERE id IN (SELECT id FROM partnerkit_one WHERE id > $1 ORDER BY id LIMIT $2) RETURNING id"}
	for range 2 { // after a restart nothing is done again
		db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		var log logtest.Buffer
		store, err := sqlstore.New(t.Context(), db, sqlstore.Config{Migrations: files, Backfills: []sqlstore.Backfill{fill}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- store.Run(ctx) }()
		for left := 1; left > 0; {
			if err := storage.One(t.Context(), db, "SELECT COUNT(*) FROM partnerkit_one WHERE twice IS NULL OR twice <> id || id", nil, &left); err != nil {
				t.Fatal(err)
			}
		}
		for isDone := false; !isDone; {
			if err := storage.One(t.Context(), db, "SELECT is_done FROM partnerkit_backfill", nil, &isDone); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if err := errors.Join(<-ended, store.Close()); err != nil {
			t.Error(err)
		}
		if log.Count("backfill failed") > 0 {
			t.Error(log.String())
		}
		fill.Update = "not a statement"
	}
}
