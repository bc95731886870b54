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
	store, err := sqlstore.New(ctx, db, sqlstore.Config{Shards: cfg.Shards, SkipMigrations: cfg.SkipMigrations, Logger: cfg.Logger})
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
	parsed, err := pgx.ParseConfig(url)
	if err != nil {
		// pgx quotes the URL in some of its errors.
		return nil, errors.New("postgres: the URL is not of the form postgres://user:password@host:port/database?option=value")
	}
	isOurs := limitIdle(parsed, cfg.IdleTransaction)
	db, err := connect(ctx, parsed, cfg)
	if err != nil && isOurs && refusesSetting(err) {
		cfg.Logger.WarnContext(ctx, "postgres: a pooler refuses "+idleSetting+"; set it for the user or the database", "err", err)
		delete(parsed.RuntimeParams, idleSetting)
		db, err = connect(ctx, parsed, cfg)
	}
	return db, err
}

// idleSetting is the setting that ends transactions of a client that hangs.
const idleSetting = "idle_in_transaction_session_timeout"

// limitIdle has every connection begin with the setting, unless the URL has one.
func limitIdle(to *pgx.ConnConfig, after time.Duration) (isOurs bool) {
	if _, given := to.RuntimeParams[idleSetting]; given || after < 0 {
		return false
	}
	to.RuntimeParams[idleSetting] = strconv.FormatInt(max(1, after.Milliseconds()), 10)
	return true
}

// connect opens a pool and asks for a first connection.
func connect(ctx context.Context, parsed *pgx.ConnConfig, cfg Config) (*DB, error) {
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
