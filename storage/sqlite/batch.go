package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/storage"
)

// run executes the acts of the batch and commits them, and takes in those that
// arrive meanwhile. Each job has its error afterwards.
func (w *writer) run() {
	if w.together() {
		return
	}
	for _, j := range w.batch {
		w.alone(j)
	}
}

// together runs the acts in one transaction, so that each one still stands or
// falls alone. It reports false when the transaction was lost with what the
// acts had done: SQLite drops it on some errors, a full disk for one, and then
// no act has happened and each is to run again, alone.
func (w *writer) together() bool {
	if err := w.begin(); err != nil {
		fail(w.batch, err)
		return true
	}
	done := 0
	for i := 0; i < len(w.batch); i++ {
		j := w.batch[i]
		if w.guarded(j, done == 0) {
			w.log.Warn("sqlite: transaction lost, repeating the batch one by one", "acts", len(w.batch), "err", j.err)
			return false
		}
		if j.err == nil {
			done++
		}
		if i == len(w.batch)-1 {
			w.batch = w.take(w.batch)
		}
	}
	if done == 0 {
		w.rollback()
		return true
	}
	err := w.commit()
	if isFull(err) && len(w.batch) > 1 {
		w.log.Warn("sqlite: no space to commit, repeating the batch one by one", "acts", len(w.batch))
		return false
	}
	for _, j := range w.batch {
		if j.err == nil {
			j.err = err
		}
	}
	return true
}

// alone runs one act in a transaction of its own.
func (w *writer) alone(j *job) {
	if j.err = w.begin(); j.err != nil {
		return
	}
	if j.err = w.act(j); j.err != nil {
		w.rollback()
		return
	}
	j.err = w.commit()
}

func fail(batch []*job, err error) {
	for _, j := range batch {
		j.err = err
	}
}

// guarded runs the act of a job so that its failure undoes its own statements
// and no others. It reports whether the transaction was lost instead. The first
// act has nothing before it to keep, and a single statement is undone by SQLite
// itself; only the rest need a savepoint.
func (w *writer) guarded(j *job, first bool) (lost bool) {
	switch {
	case j.query != "":
		j.err = w.act(j)
		return j.err != nil && w.lost()
	case first:
		if j.err = w.act(j); j.err != nil {
			w.rollback()
			return w.begin() != nil
		}
		return false
	}
	if j.err = w.control("SAVEPOINT batched"); j.err != nil {
		return true
	}
	if j.err = w.act(j); j.err != nil {
		if w.control("ROLLBACK TO batched") != nil {
			return true
		}
	}
	if err := w.control("RELEASE batched"); err != nil {
		j.err = err
		return true
	}
	return false
}

// act calls the act of a job, under a context that is not cancelled: modernc
// interrupts a statement by rolling back all of its transaction, neighbours
// included. So this is the last look at the caller's context. The transaction it hands out is dead when the act is over.
func (w *writer) act(j *job) (err error) {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	if j.query != "" {
		j.changed, err = w.conn.Exec(uncancelled(j.ctx), j.query, j.args...)
		return err
	}
	tx := &actTx{conn: w.conn}
	defer func() {
		tx.over = true
		// A panic belongs to the goroutine that brought the act.
		if j.panicked = recover(); j.panicked != nil {
			err = errors.New("sqlite: the act panicked")
		}
	}()
	return j.act(uncancelled(j.ctx), tx)
}

// actTx is the connection for the time of one act.
type actTx struct {
	conn *statements
	over bool
}

func (t *actTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if t.over {
		return 0, storage.ErrTxDone
	}
	return t.conn.Exec(uncancelled(ctx), query, args...)
}

func (t *actTx) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	if t.over {
		return nil, storage.ErrTxDone
	}
	return t.conn.Query(uncancelled(ctx), query, args...)
}

// uncancelled is for acts that use a context from outside of them.
func uncancelled(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

func (w *writer) begin() error { return w.control("BEGIN IMMEDIATE") }

// commit leaves no transaction open, whether it succeeds or not.
func (w *writer) commit() error {
	if err := w.control("COMMIT"); err != nil {
		w.rollback()
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// rollback ends the transaction; that SQLite has ended it already is no error.
func (w *writer) rollback() { _ = w.control("ROLLBACK") }

// lost tells whether SQLite has dropped the transaction: only then can another
// one begin.
func (w *writer) lost() bool {
	if w.begin() != nil {
		return false
	}
	w.rollback()
	return true
}

func (w *writer) control(statement string) error {
	_, err := w.conn.Exec(context.Background(), statement)
	return err
}
