package sqlstore

import (
	"context"
	"sync/atomic"

	"github.com/partnerkit/partnerkit/storage"
)

// joined is a transaction that operations of a store join.
type joined struct {
	on    storage.Tx
	hint  func(hints ...storage.Hint) // publishes after the commit; nil: hints are dropped
	ended atomic.Bool                 // operations are refused
}

// inTransaction is the key of a *joined in a context. It names the store, so that two
// stores in one process do not mix their transactions.
type inTransaction struct{ of *hub }

// Transact runs several operations in one transaction and returns after its commit. Each
// operation that do calls with the context that it is given joins the transaction and sees
// what the operations before it wrote. When do fails, the transaction is rolled back and
// the error of do is returned. An operation that fails is undone alone, and do may go on.
//
// The function do may run more than once. The variables that it assigns hold the results
// of its last run, and mean something only if Transact returned no error. It passes the
// context that it is given to every operation, in its own goroutine: on SQLite an operation
// under another context waits for this transaction to end, and fails. It does nothing that
// takes long, since on SQLite no other write runs at the same time. Once do has returned,
// operations under its context return [storage.ErrTxDone].
//
// A Transact inside another one, or on a store that [Store.WithTx] returned, joins that
// transaction, as any operation does.
func (s *Store) Transact(ctx context.Context, do func(ctx context.Context) error) error {
	return s.write(ctx, func(ctx context.Context, tx *tx) error {
		inside := &joined{on: tx.on, hint: tx.hint}
		defer inside.ended.Store(true)
		return do(context.WithValue(ctx, inTransaction{s.hub}, inside))
	})
}

// transaction returns the transaction that operations join: that of WithTx, or that of
// Transact; nil when each operation has its own.
func (s *Store) transaction(ctx context.Context) *joined {
	if s.joined != nil {
		return s.joined
	}
	inside, _ := ctx.Value(inTransaction{s.hub}).(*joined)
	return inside
}

// from returns what the store reads from; [storage.ErrTxDone].
func (s *Store) from(ctx context.Context) (storage.Querier, error) {
	outer := s.transaction(ctx)
	switch {
	case outer == nil:
		return s.db, nil
	case outer.ended.Load():
		return nil, storage.ErrTxDone
	}
	return outer.on, nil
}

// run runs an operation in a savepoint and passes its hints on.
func (j *joined) run(ctx context.Context, act storage.Operation, of *tx) error {
	if j.ended.Load() {
		return storage.ErrTxDone
	}
	if err := storage.Savepoint(ctx, j.on, act); err != nil {
		return err
	}
	if j.hint != nil {
		j.hint(of.hints...)
	}
	return nil
}
