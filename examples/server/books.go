package main

import (
	"context"
	_ "embed" // for the tables
	"errors"
	"fmt"
	"strings"

	"github.com/partnerkit/partnerkit/examples/books/ledger"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

//go:embed tables.sql
var tables string

// errAbsent says that the books have no such row.
var errAbsent = errors.New("there is no such row")

// books are the accounting service's own tables. They lie beside the library's,
// in one database, and share its transactions.
type books struct{ store *sqlstore.Store }

// openBooks creates the tables where they are missing.
func openBooks(ctx context.Context, store *sqlstore.Store) (*books, error) {
	b := &books{store}
	err := b.write(ctx, func(tx storage.Tx) error {
		if err := takeTurn(ctx, tx); err != nil {
			return err
		}
		for statement := range strings.SplitSeq(tables, ";") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("create tables: %w", err)
			}
		}
		return ledger.CreateTables(ctx, tx)
	})
	return b, err
}

// takeTurn has nodes that start together go on one after the other: they wait
// for this row.
func takeTurn(ctx context.Context, tx storage.Tx) error {
	_, err := tx.Exec(ctx, "UPDATE partnerkit_migration SET name = name WHERE number = 1")
	return err
}

// load fills an empty database, as a whole or not at all. It reports false when
// the database was not empty.
func (b *books) load(ctx context.Context, data *loadable) (loaded bool, err error) {
	err = b.write(ctx, func(tx storage.Tx) error {
		if err := takeTurn(ctx, tx); err != nil {
			return err
		}
		if _, err := fixturesOf(ctx, tx); !errors.Is(err, errAbsent) {
			return err
		}
		loaded = true
		return data.load(ctx, b.store.WithTx(tx), tx)
	})
	return loaded && err == nil, err
}

// write runs an act in one transaction.
func (b *books) write(ctx context.Context, act func(tx storage.Tx) error) error {
	tx, err := b.store.BeginTx(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := act(tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// exec is write for one statement. It reports how many rows it changed.
func (b *books) exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = b.write(ctx, func(tx storage.Tx) error {
		n, err = tx.Exec(ctx, query, args...)
		return err
	})
	return n, err
}

// one reads one row; errAbsent.
func one(ctx context.Context, from storage.Querier, query string, args []any, dest ...any) error {
	err := storage.One(ctx, from, query, args, dest...)
	if errors.Is(err, storage.ErrNoRows) {
		return errAbsent
	}
	return err
}

// fixturesOf says where the data of the database came from; errAbsent when it is
// empty.
func fixturesOf(ctx context.Context, from storage.Querier) (origin string, err error) {
	err = one(ctx, from, "SELECT value FROM books_setting WHERE name = 'fixtures'", nil, &origin)
	return origin, err
}
