package goose_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"

	recipe "github.com/partnerkit/partnerkit/examples/recipes/goose"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// With SkipMigrations the store opens after Migrate, and says what is missing before.
func TestMigrate(t *testing.T) {
	ctx := t.Context()
	cfg := sqlite.Config{Path: filepath.Join(t.TempDir(), "books.db"), SkipMigrations: true}
	if _, err := sqlite.Open(ctx, cfg); !errors.Is(err, storage.ErrOlderSchema) {
		t.Errorf("before: %v", err)
	}
	db, err := sql.Open("sqlite", cfg.Path)
	if err != nil {
		t.Fatal(err)
	}
	own := fstest.MapFS{"00001_invoice.sql": {Data: []byte("-- +goose Up\nCREATE TABLE invoice (id TEXT PRIMARY KEY);\n")}}
	for range 2 { // again changes nothing
		if err := recipe.Migrate(ctx, db, goose.DialectSQLite3, own); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO invoice (id) VALUES ('inv_1')"); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
