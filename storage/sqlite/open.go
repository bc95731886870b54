package sqlite

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// Open opens the file and brings its tables up to date. The errors to expect
// are [storage.ErrInUse], [storage.ErrNewerSchema], [storage.ErrReadOnly] and
// [storage.ErrFull]; each names the file and what to do.
func Open(ctx context.Context, cfg Config) (*sqlstore.Store, error) {
	db, err := OpenDB(ctx, cfg)
	if err != nil {
		return nil, err
	}
	store, err := sqlstore.New(ctx, db, sqlstore.Config{Shards: cfg.Shards, SkipMigrations: cfg.SkipMigrations, Logger: cfg.Logger})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return store, nil
}
