package sqlite

import (
	"context"
	"errors"
	"fmt"
)

// run executes the operations of the batch and commits them, together with operations that
// arrive while it runs. Each job has its error afterwards.
func (w *writer) run() {
	if w.together() {
		return
	}
	w.rollback() // the transaction may still be open
	for i, j := range w.batch {
		if !w.alone(j) {
			fail(w.batch[i:], j.err) // the remaining jobs cannot succeed either
			return
		}
	}
}

// together runs the operations in one transaction, so that each one still stands or
// falls alone. It reports false when none of it happened and each operation is to run
// again, alone: SQLite drops a transaction on some errors, a full disk for one,
// and a commit can fail because of one of its operations.
func (w *writer) together() bool {
	if err := w.begin(); err != nil {
		fail(w.batch, err)
		return true
	}
	done := 0
	for i := 0; i < len(w.batch); i++ {
		j := w.batch[i]
		if w.guarded(j, done == 0) {
			w.log.Warn("sqlite: transaction lost, repeating the batch one by one", "operations", len(w.batch), "err", j.err)
			return false
		}
		if j.err == nil {
			done++
		}
		if i == len(w.batch)-1 {
			w.batch = w.take(w.batch) // with the jobs that have arrived since
		}
	}
	if done == 0 {
		w.rollback()
		return true
	}
	err := w.commit()
	if isUndone(err) && len(w.batch) > 1 {
		w.log.Warn("sqlite: commit refused, repeating the batch one by one", "operations", len(w.batch), "err", err)
		return false
	}
	for _, j := range w.batch {
		if err != nil || j.err == nil { // a refusal may rest on what was not committed
			j.err = err
		}
		j.settled = true
	}
	return true
}

// alone runs one operation in its own transaction. It reports false if no transaction could
// begin.
func (w *writer) alone(j *job) bool {
	if j.err = w.begin(); j.err != nil {
		return false
	}
	if _, j.err = w.act(j); j.err == nil {
		j.err = w.commit()
	} else {
		w.rollback()
	}
	j.settled = true
	return true
}

func fail(batch []*job, err error) {
	for _, j := range batch {
		j.err = err
	}
}

// guarded runs the operation of a job so that its failure undoes its own statements
// and no others. It reports whether the transaction was lost instead. The first
// operation has nothing before it to keep, and a single statement is undone by SQLite
// itself; only the rest need a savepoint.
func (w *writer) guarded(j *job, first bool) (lost bool) {
	switch {
	case j.act == nil:
		_, j.err = w.act(j)
		return j.err != nil && !inTransaction(w.conn)
	case first:
		if _, j.err = w.act(j); j.err == nil {
			return false
		}
		w.rollback()
		return w.begin() != nil
	}
	if j.err = w.control("SAVEPOINT batched"); j.err != nil {
		return true
	}
	if lost, j.err = w.act(j); lost {
		return true
	}
	if j.err != nil && w.control("ROLLBACK TO batched") != nil {
		return true
	}
	if err := w.control("RELEASE batched"); err != nil {
		j.err = err
		return true
	}
	return false
}

// act calls the operation of a job under a context that is never cancelled, after a last
// check of the caller's context. It reports whether the transaction was lost, which
// is an error even if the operation returned nil.
func (w *writer) act(j *job) (lost bool, err error) {
	if err := j.ctx.Err(); err != nil {
		return false, err
	}
	if j.act == nil {
		j.changed, err = w.conn.exec(uncancelled(j.ctx), j.query, j.args)
		return false, err
	}
	tx := &txn{conn: w.conn}
	defer func() {
		// A panic belongs to the goroutine that brought the operation.
		if j.panicked = recover(); j.panicked != nil {
			err = errors.New("sqlite: the operation panicked")
		}
		if lost = tx.end(); lost && err == nil {
			err = errors.New("sqlite: the transaction was lost during the operation")
		}
	}()
	return false, j.act(uncancelled(j.ctx), tx)
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

// rollback ends the transaction. It is not an error if SQLite has ended it already.
func (w *writer) rollback() { _ = w.control("ROLLBACK") }

func (w *writer) control(statement string) error {
	_, err := w.conn.exec(context.Background(), statement, nil)
	return err
}
