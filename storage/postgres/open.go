package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

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
	return newStore(ctx, ours, cfg)
}

func newStore(ctx context.Context, db *DB, cfg Config) (*sqlstore.Store, error) {
	store, err := sqlstore.New(ctx, db, sqlstore.Config{SkipMigrations: cfg.SkipMigrations, Logger: cfg.Logger})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return store, nil
}

// OpenDB connects without looking at the tables; [Open] does.
func OpenDB(ctx context.Context, url string, cfg Config) (*DB, error) {
	if _, err := cfg.withDefaults(); err != nil {
		return nil, err
	}
	parsed, err := pgx.ParseConfig(url)
	if err != nil {
		// pgx quotes the URL in some of its errors.
		return nil, errors.New("postgres: the URL is not of the form postgres://user:password@host:port/database?option=value")
	}
	db, err := NewDB(stdlib.OpenDB(*parsed), cfg)
	if err != nil {
		return nil, err
	}
	db.owned = true
	db.name = net.JoinHostPort(parsed.Host, strconv.Itoa(int(parsed.Port))) + "/" + parsed.Database
	db.sql.SetMaxOpenConns(db.cfg.MaxConns)
	db.sql.SetMaxIdleConns(db.cfg.MaxConns)
	db.sql.SetConnMaxIdleTime(5 * time.Minute)
	if err := db.sql.PingContext(ctx); err != nil {
		return nil, errors.Join(
			fmt.Errorf("postgres: connect to %s as %s: %w; check that the server runs there and takes this user", db.name, parsed.User, plain(err)),
			db.Close())
	}
	return db, nil
}
