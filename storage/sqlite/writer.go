package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

// writer shares the single write connection. It has no goroutine of its own: a caller that
// finds the connection free takes it, runs all queued operations in one transaction (see
// batch.go), and hands the connection to the first caller that came later. A lone writer
// therefore pays for no change of goroutine, and many writers share one commit.
type writer struct {
	db       *sql.DB // has only the connection raw
	raw      *sql.Conn
	conn     *statements // over raw
	wait     time.Duration
	maxBatch int
	log      *slog.Logger
	wal      walFile // of the goroutine that has the connection

	batch []*job // of the goroutine that has the connection

	mu     sync.Mutex
	queue  []*job        // those waiting, the next to lead at the front
	held   bool          // the connection is in use
	lent   *lentTx       // set while a transaction of BeginTx has it
	closed bool          // no more jobs
	idle   chan struct{} // closed when closed and no longer held
}

// job is one operation waiting for the connection, one statement, or one BeginTx.
type job struct {
	ctx   context.Context
	act   storage.Operation
	query string // without an operation: one statement, atomic by itself
	args  []any
	lend  bool // wants the connection, brings no operation

	turn    chan struct{} // of one that waits; receives once: the job is done, or is to lead
	leading bool          // appointed to lead; set under writer.mu
	done    bool          // set before turn is signalled

	settled  bool  // its outcome is final
	changed  int64 // rows, by the one statement
	err      error
	panicked any // of the operation; raised again in the goroutine that brought it
}

func newWriter(db *sql.DB, on *sql.Conn, file string, cfg Config) *writer {
	return &writer{
		db: db, raw: on, conn: &statements{on: on}, wait: cfg.WriteWait, maxBatch: cfg.MaxBatch, log: cfg.Logger,
		wal: walFile{path: file + "-wal"}, idle: make(chan struct{}),
	}
}

// write runs the job's operation and returns after its commit.
func (w *writer) write(j *job) error {
	if err := w.enter(j); err != nil {
		return err
	}
	if !j.done {
		w.lead()
	}
	if j.panicked != nil {
		panic(j.panicked)
	}
	return j.err
}

// enter queues the job and returns when it is done or has the connection.
func (w *writer) enter(j *job) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return storage.ErrClosed
	}
	w.queue = append(w.queue, j)
	if !w.held {
		w.held, j.leading = true, true
		w.mu.Unlock()
		return nil
	}
	j.turn = make(chan struct{}, 1)
	w.mu.Unlock()
	return w.await(j)
}

func (w *writer) await(j *job) error {
	timer := time.NewTimer(w.wait)
	defer timer.Stop()
	select {
	case <-j.turn:
		return j.refused()
	case <-j.ctx.Done():
		if w.withdraw(j) {
			return j.ctx.Err()
		}
	case <-timer.C:
		if w.withdraw(j) {
			return w.busy()
		}
	}
	<-j.turn // it has begun, so its outcome is the result
	return j.refused()
}

// refused is the error of a job that never ran because the writer closed.
func (j *job) refused() error {
	if j.done && j.lend {
		return j.err
	}
	return nil
}

func (w *writer) busy() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lent != nil {
		return fmt.Errorf("%w: waited %v, a transaction is open; use WithTx to write inside it", storage.ErrBusy, w.wait)
	}
	return fmt.Errorf("%w: waited %v for earlier writes", storage.ErrBusy, w.wait)
}

// withdraw takes a job out of the queue, unless it has been taken already.
func (w *writer) withdraw(j *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if j.leading {
		return false
	}
	i := slices.Index(w.queue, j)
	if i < 0 {
		return false
	}
	w.queue = slices.Delete(w.queue, i, i+1)
	return true
}

// lead runs one batch, whose first job is the caller's, tends the log and passes the
// connection on.
func (w *writer) lead() {
	w.batch = w.take(w.batch[:0])
	ended := false
	defer func() {
		if !ended { // runtime.Goexit in an operation: the goroutine ends here
			w.rollback()
			left := slices.DeleteFunc(slices.Clone(w.batch), func(j *job) bool { return j.settled })
			fail(left, errors.New("sqlite: an operation ended the goroutine of its batch"))
		}
		for _, j := range w.batch[1:] {
			j.finish(j.err)
		}
		w.tendLog()
		w.pass()
	}()
	w.run()
	ended = true
}

// take moves jobs from the queue to the batch, as many as it may hold: operations, or
// one BeginTx by itself.
func (w *writer) take(batch []*job) []*job {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for n < len(w.queue) && len(batch) < w.maxBatch {
		next := w.queue[n]
		if next.lend && len(batch) > 0 {
			break
		}
		batch = append(batch, next)
		n++
		if next.lend {
			break
		}
	}
	w.queue = slices.Delete(w.queue, 0, n)
	return batch
}

// pass gives the connection to the first in the queue, or lays it down.
func (w *writer) pass() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) > 0 {
		next := w.queue[0]
		next.leading = true
		next.turn <- struct{}{}
		return
	}
	w.held = false
	if w.closed {
		close(w.idle)
	}
}

func (j *job) finish(err error) {
	j.err, j.done = err, true
	j.turn <- struct{}{}
}

// tryOne reads one row over the connection if no other goroutine holds it, and reports
// whether it did.
func (w *writer) tryOne(ctx context.Context, query string, args, dest []any) (ran bool, err error) {
	w.mu.Lock()
	if w.held || w.closed {
		w.mu.Unlock()
		return false, nil
	}
	w.held = true
	w.mu.Unlock()
	defer w.pass()
	return true, w.conn.one(ctx, query, args, dest)
}

// close rejects the waiting jobs, rolls back a transaction that was left open,
// and returns when the connection is no longer used.
func (w *writer) close() {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		<-w.idle
		return
	}
	w.closed = true
	w.queue = slices.DeleteFunc(w.queue, func(j *job) bool {
		if !j.leading {
			j.finish(storage.ErrClosed)
		}
		return !j.leading
	})
	lent := w.lent
	if !w.held {
		close(w.idle)
	}
	w.mu.Unlock()
	if lent != nil {
		_ = lent.Rollback()
	}
	<-w.idle
}

// release closes the connection.
func (w *writer) release() error {
	return errors.Join(w.conn.close(), w.raw.Close(), w.db.Close())
}
