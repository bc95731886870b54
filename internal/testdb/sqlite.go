package testdb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// SQLite is an [Opener] for tests that use a store: a file that has the tables already,
// because creating them takes longer than most tests.
func SQLite(t testing.TB) storage.DB {
	t.Helper()
	return SQLiteWith(t, sqlite.Config{})
}

// SQLiteWith is [SQLite] with a configuration. It ignores the path in cfg.
func SQLiteWith(t testing.TB, cfg sqlite.Config) storage.DB {
	t.Helper()
	file, err := withTables()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Path = filepath.Join(t.TempDir(), "test.db")
	if err := os.WriteFile(cfg.Path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.OpenDB(t.Context(), cfg)
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

// withTables is the file of an empty store, made once.
var withTables = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "partnerkit-testdb-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "tables.db")
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
