// Package goose applies the library's migrations with the backend's own tool, so that the
// program that serves requests needs no permission to change tables.
package goose

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// Migrate applies the backend's migrations and the library's. Each set has a version table of its
// own, since their numbers have nothing to do with each other.
func Migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect, own fs.FS) error {
	for table, files := range map[string]fs.FS{"goose_db_version": own, "partnerkit_goose": sqlstore.Migrations()} {
		store, err := database.NewStore(database.Dialect(dialect), table)
		if err != nil {
			return err
		}
		provider, err := goose.NewProvider("", db, files, goose.WithStore(store))
		if err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
		if _, err := provider.Up(ctx); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}
