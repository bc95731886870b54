package sqlite

import (
	"context"

	"github.com/partnerkit/partnerkit/storage"
)

// lentTx is a transaction of BeginTx: the connection, lent between two batches.
// The context of BeginTx ends it, between statements.
type lentTx struct {
	txn
	w    *writer
	stop func() bool // no longer watch the context
	back bool        // the connection was given back
}

// lend waits for the connection and opens a transaction on it.
func (w *writer) lend(ctx context.Context) (*lentTx, error) {
	j := &job{ctx: ctx, lend: true}
	if err := w.enter(j); err != nil {
		return nil, err
	}
	if w.take(nil); ctx.Err() != nil {
		w.pass()
		return nil, ctx.Err()
	}
	if err := w.begin(); err != nil {
		w.pass()
		return nil, err
	}
	tx := &lentTx{txn: txn{conn: w.conn}, w: w}
	w.mu.Lock()
	w.lent = tx
	closed := w.closed
	w.mu.Unlock()
	if closed { // close had no lent transaction to see
		_ = tx.Rollback()
		return nil, storage.ErrClosed
	}
	tx.mu.Lock()
	tx.stop = context.AfterFunc(ctx, func() { _ = tx.Rollback() })
	tx.mu.Unlock()
	return tx, nil
}

func (t *lentTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return t.txn.Exec(ctx, query, args...)
}

func (t *lentTx) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return t.txn.Query(ctx, query, args...)
}

func (t *lentTx) One(ctx context.Context, query string, args, dest []any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.txn.One(ctx, query, args, dest)
}

func (t *lentTx) Commit(ctx context.Context) error {
	err := ctx.Err()
	t.finish(func(over bool) {
		switch {
		case over:
			t.w.rollback()
			err = storage.ErrTxDone
		case err != nil:
			t.w.rollback()
		default:
			err = t.w.commit()
		}
	}, func() { err = storage.ErrTxDone })
	return err
}

func (t *lentTx) Rollback() error {
	t.finish(func(bool) { t.w.rollback() }, func() {})
	return nil
}

// finish ends the transaction by calling end once; any later call runs late instead. The
// argument over reports whether SQLite has already dropped the transaction.
func (t *lentTx) finish(end func(over bool), late func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.back {
		late()
		return
	}
	_ = t.closeRows()
	end(t.over)
	t.over, t.back = true, true
	if t.stop != nil {
		t.stop()
	}
	t.w.mu.Lock()
	t.w.lent = nil
	t.w.mu.Unlock()
	t.w.tendLog()
	t.w.pass()
}
