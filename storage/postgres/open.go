package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// Open connects to a postgres:// URL and brings the tables up to date. Its
// errors name the host and the database, never the password.
func Open(ctx context.Context, url string, cfg Config) (*sqlstore.Store, error) {
	db, err := OpenDB(ctx, url, cfg)
	if err != nil {
		return nil, err
	}
	return newStore(ctx, db, cfg)
}

// New uses a database that the host has opened, and that Close of the store
// leaves open.
func New(ctx context.Context, db *sql.DB, cfg Config) (*sqlstore.Store, error) {
	ours, err := NewDB(db, cfg)
	if err != nil {
		return nil, err
	}
	if err := lookAtHosts(ctx, db, ours.cfg.Logger); err != nil {
		return nil, err
	}
	return newStore(ctx, ours, cfg)
}

func newStore(ctx context.Context, db *DB, cfg Config) (*sqlstore.Store, error) {
	store, err := sqlstore.New(ctx, db, sqlstore.Config{Shards: cfg.Shards, SkipMigrations: cfg.SkipMigrations, Partitions: cfg.Partitions, Logger: cfg.Logger})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return store, nil
}

// OpenDB connects without looking at the tables; [Open] does.
func OpenDB(ctx context.Context, url string, cfg Config) (*DB, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	p, err := openPool(ctx, url, cfg.MaxConns, cfg)
	if err != nil {
		return nil, err
	}
	p.sayPooled(ctx, cfg.Logger, cfg.DirectURL != "")
	db := &DB{sql: p.sql, cfg: cfg, pool: p, name: p.name, ending: make(chan struct{})}
	if cfg.DirectURL == "" {
		return db, nil
	}
	if db.direct, err = openPool(ctx, cfg.DirectURL, directConns, cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("Config.DirectURL: %w", err), db.Close())
	}
	return db, nil
}

// directConns is how many connections go past the pooler at most: one for LISTEN, and two for
// migrations.
const directConns = 3
