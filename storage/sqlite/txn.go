package sqlite

import (
	"context"
	"errors"
	"sync"

	"github.com/partnerkit/partnerkit/storage"
)

// txn is the connection for the time of one operation or of one lent transaction. When
// the txn is over, its rows are closed and it runs no more statements, because the
// connection then serves another operation or transaction.
type txn struct {
	conn *statements

	mu   sync.Mutex
	rows *txnRows // being read
	over bool
	lost bool // SQLite has dropped the transaction by itself
}

func (t *txn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ready(); err != nil {
		return 0, err
	}
	n, err := t.conn.exec(uncancelled(ctx), query, args)
	t.look(err)
	return n, err
}

func (t *txn) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ready(); err != nil {
		return nil, err
	}
	found, err := t.conn.query(uncancelled(ctx), query, args)
	if err != nil {
		t.look(err)
		return nil, err
	}
	t.rows = &txnRows{t: t, rows: found}
	return t.rows, nil
}

// One is the shorter way to a single row, for [storage.One].
func (t *txn) One(ctx context.Context, query string, args, dest []any) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ready(); err != nil {
		return err
	}
	err := t.conn.one(uncancelled(ctx), query, args, dest)
	if err != nil && !errors.Is(err, storage.ErrNoRows) {
		t.look(err)
	}
	return err
}

// ready closes rows that were left open before another statement runs.
func (t *txn) ready() error {
	if t.over {
		return storage.ErrTxDone
	}
	return t.closeRows()
}

func (t *txn) closeRows() error {
	if t.rows == nil {
		return nil
	}
	left := t.rows
	left.cut, t.rows = true, nil
	return left.rows.Close()
}

// look asks after a failed statement whether SQLite dropped the transaction with
// it, as it does on a full disk. What followed would commit by itself.
func (t *txn) look(err error) {
	if err != nil && !inTransaction(t.conn) {
		t.over, t.lost = true, true
	}
}

// end closes what is open and lets nothing more through. It reports whether the
// transaction was lost.
func (t *txn) end() (lost bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.closeRows()
	t.over = true
	return t.lost
}

// inTransaction tells by trying to begin, which only works outside of one.
func inTransaction(on *statements) bool {
	if _, err := on.exec(context.Background(), "BEGIN", nil); err != nil {
		return true
	}
	_, _ = on.exec(context.Background(), "ROLLBACK", nil)
	return false
}

// uncancelled is ctx without its end: SQLite interrupts a statement that writes by rolling
// back all of its transaction.
func uncancelled(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// txnRows are the rows of a statement, for as long as their transaction lasts and
// no other statement runs.
type txnRows struct {
	t    *txn
	rows rows
	cut  bool // closed from outside
}

func (r *txnRows) Next() bool {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	if r.cut {
		return false
	}
	more := r.rows.Next()
	r.t.look(r.rows.Err())
	return more
}

func (r *txnRows) Scan(dest ...any) error {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	if r.cut {
		return storage.ErrTxDone
	}
	return r.rows.Scan(dest...)
}

func (r *txnRows) Err() error {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	if r.cut {
		return storage.ErrTxDone
	}
	return r.rows.Err()
}

func (r *txnRows) Close() error {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	if r.cut || r.t.rows != r {
		return nil
	}
	r.t.rows = nil
	return r.rows.Close()
}
