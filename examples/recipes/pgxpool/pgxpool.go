// Package pgxpool shares the backend's pgx pool with the library: one set of connections, one
// limit, and transactions that hold the backend's rows and the library's events.
package pgxpool

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// Store is a store on connections of the pool.
type Store struct {
	*sqlstore.Store
	db *sql.DB
}

// Open opens a store on connections of the pool, which stays the backend's. Notifications
// between nodes hold one of them for as long as the platform runs.
func Open(ctx context.Context, pool *pgxpool.Pool, cfg postgres.Config) (*Store, error) {
	db := stdlib.OpenDBFromPool(pool)
	store, err := postgres.New(ctx, db, cfg)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Store{store, db}, nil
}

// Close closes the store and gives its connections back to the pool.
func (s *Store) Close() error { return errors.Join(s.Store.Close(), s.db.Close()) }

// AddInvoice inserts a row of the backend and records its event, in one transaction of pgx.
func AddInvoice(ctx context.Context, pool *pgxpool.Pool, platform *partnerkit.Platform, business, id string) error {
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO invoice (id, business_id) VALUES ($1, $2)", id, business); err != nil {
			return err
		}
		_, err := platform.Events().RecordIn(ctx, postgres.Pgx(tx), events.Draft{
			Type: "invoice.created", BusinessID: business, Data: map[string]string{"id": id},
		})
		return err
	})
	if err == nil {
		platform.Wake() // or its webhooks leave within one second
	}
	return err
}
