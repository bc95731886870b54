package books

import (
	"context"
	_ "embed" // for the tables
	"errors"
	"fmt"
	"strings"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/examples/books/ledger"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

//go:embed tables.sql
var tables string

// ErrAbsent is returned for a row that does not exist.
var ErrAbsent = errors.New("there is no such row")

// Books is the accounting service's own tables. They are in the database of the library
// and share its transactions. It is safe for concurrent use.
type Books struct {
	store  *sqlstore.Store
	ledger *ledger.Ledger
}

// Open opens the books in the database of the store, and creates the tables that are
// missing. The store stays the caller's to close.
func Open(ctx context.Context, store *sqlstore.Store, now clock.Clock) (*Books, error) {
	b := &Books{store: store}
	var err error
	if b.ledger, err = openLedger(b, now); err != nil {
		return nil, err
	}
	return b, b.store.InTx(ctx, func(tx storage.Tx) error {
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
}

// Ledger returns the records behind the API.
func (b *Books) Ledger() *ledger.Ledger { return b.ledger }

// takeTurn makes nodes that start together continue one after the other: each waits for
// the lock of this row.
func takeTurn(ctx context.Context, tx storage.Tx) error {
	_, err := tx.Exec(ctx, "UPDATE partnerkit_migration SET name = name WHERE number = 1")
	return err
}

// exec runs one statement. It reports how many rows it changed.
func (b *Books) exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = b.store.InTx(ctx, func(tx storage.Tx) error {
		n, err = tx.Exec(ctx, query, args...)
		return err
	})
	return n, err
}

// one reads one row; ErrAbsent.
func one(ctx context.Context, from storage.Querier, query string, args []any, dest ...any) error {
	err := storage.One(ctx, from, query, args, dest...)
	if errors.Is(err, storage.ErrNoRows) {
		return ErrAbsent
	}
	return err
}
