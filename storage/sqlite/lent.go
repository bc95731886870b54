package sqlite

import (
	"context"
	"sync"

	"github.com/partnerkit/partnerkit/storage"
)

// lentTx is a transaction of BeginTx: the connection, lent between two batches.
// Its statements run under a context that is not cancelled, for the reason that
// writer.act gives; the context of BeginTx ends the transaction between them.
type lentTx struct {
	w    *writer
	stop func() bool // no longer watch the context

	mu   sync.Mutex
	over bool
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
	tx := &lentTx{w: w}
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
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.usable(ctx); err != nil {
		return 0, err
	}
	return t.w.conn.Exec(uncancelled(ctx), query, args...)
}

func (t *lentTx) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.usable(ctx); err != nil {
		return nil, err
	}
	return t.w.conn.Query(uncancelled(ctx), query, args...)
}

func (t *lentTx) usable(ctx context.Context) error {
	if t.over {
		return storage.ErrTxDone
	}
	return ctx.Err()
}

func (t *lentTx) Commit(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return storage.ErrTxDone
	}
	err := ctx.Err()
	if err == nil {
		err = t.w.commit()
	} else {
		t.w.rollback()
	}
	t.giveBack()
	return err
}

func (t *lentTx) Rollback() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.w.rollback()
		t.giveBack()
	}
	return nil
}

func (t *lentTx) giveBack() {
	t.over = true
	if t.stop != nil {
		t.stop()
	}
	t.w.mu.Lock()
	t.w.lent = nil
	t.w.mu.Unlock()
	t.w.pass()
}
