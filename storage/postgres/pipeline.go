package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/partnerkit/partnerkit/storage"
)

// rollbackWithin is the time limit for ending a transaction that failed.
const rollbackWithin = 5 * time.Second

// pipeline is the transaction of an operation, on a connection of pgx. What need not be
// answered at once travels with the next statement that does: BEGIN with the first,
// COMMIT with the last ones. That saves an operation a third of its ways to the server and
// back, or more.
type pipeline struct {
	conn   *pgx.Conn
	waits  *pgx.Batch
	reads  map[int]read // those of the waiting ones whose row is asked for, by their place
	failed error        // of a statement: there is nothing left to commit
	over   bool
}

// runPipeline runs the operation in one transaction.
func runPipeline(ctx context.Context, conn *pgx.Conn, act storage.Operation) (err error) {
	p := &pipeline{conn: conn, waits: &pgx.Batch{}}
	p.waits.Queue("begin isolation level read committed")
	committed := false
	defer func() { // even if the operation panics
		p.over = true
		if !committed {
			p.rollback(ctx)
		}
	}()
	if err := act(ctx, p); err != nil {
		return err
	}
	if err := p.commit(ctx); err != nil {
		return err
	}
	committed = true
	return nil
}

// Exec runs a statement, after those that wait.
func (p *pipeline) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	results, err := p.send(ctx, query, args)
	if err != nil {
		return 0, err
	}
	tag, err := results.Exec()
	err = cmp.Or(err, results.Close())
	p.failed = cmp.Or(p.failed, err)
	return tag.RowsAffected(), err
}

// Query runs a statement that returns rows, after those that wait.
func (p *pipeline) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	results, err := p.send(ctx, query, args)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		p.failed = cmp.Or(p.failed, err)
		return nil, cmp.Or(err, results.Close())
	}
	return &pipelineRows{Rows: rows, p: p, results: results}, nil
}

// Later implements what [storage.Later] looks for.
func (p *pipeline) Later(_ context.Context, query string, args ...any) error {
	if p.over {
		return storage.ErrTxDone
	}
	p.waits.Queue(query, args...)
	return nil
}

// read is the destination of a row, if there is one.
type read struct {
	found *bool
	dest  []any
}

// OneLater implements what [storage.OneLater] looks for.
func (p *pipeline) OneLater(ctx context.Context, found *bool, query string, args, dest []any) error {
	if p.reads == nil {
		p.reads = make(map[int]read)
	}
	p.reads[p.waits.Len()] = read{found, dest}
	return p.Later(ctx, query, args...)
}

// send sends those that wait and one more, of which the results are returned.
func (p *pipeline) send(ctx context.Context, query string, args []any) (pgx.BatchResults, error) {
	if p.over {
		return nil, storage.ErrTxDone
	}
	before := p.waits.Len()
	p.waits.Queue(query, args...)
	results, reads := p.conn.SendBatch(ctx, p.waits), p.reads
	p.waits, p.reads = &pgx.Batch{}, nil
	for i := range before {
		if err := take(results, reads[i]); err != nil {
			p.failed = cmp.Or(p.failed, err)
			return nil, cmp.Or(err, results.Close())
		}
	}
	return results, nil
}

// take takes the result of a statement that waited, to where it is wanted.
func take(results pgx.BatchResults, to read) error {
	if to.found == nil {
		_, err := results.Exec()
		return err
	}
	err := results.QueryRow().Scan(to.dest...)
	*to.found = err == nil
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// commit is sent with what waits. An operation that sent nothing has nothing to commit.
func (p *pipeline) commit(ctx context.Context) error {
	if p.isIdle() && p.waits.Len() == 1 {
		return nil
	}
	results, err := p.send(ctx, "commit", nil)
	if server, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fmt.Errorf("%w: %w", storage.ErrUndone, server) // by one before COMMIT, which the server then leaves out
	}
	if err != nil {
		return err
	}
	tag, err := results.Exec()
	if err = cmp.Or(err, results.Close()); err == nil && tag.String() == "ROLLBACK" {
		err = cmp.Or(p.failed, pgx.ErrTxCommitRollback) // the operation went on after an error
	}
	return err
}

// isIdle reports that the server has no transaction of ours open.
func (p *pipeline) isIdle() bool { return p.conn.PgConn().TxStatus() == 'I' }

// rollback leaves no transaction open, or closes the connection. It runs even when ctx
// has ended.
func (p *pipeline) rollback(ctx context.Context) {
	if p.conn.IsClosed() || p.isIdle() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackWithin)
	defer cancel()
	if _, err := p.conn.Exec(ctx, "rollback"); err != nil {
		_ = p.conn.Close(ctx)
	}
}

// pipelineRows are the rows of the last statement that was sent.
type pipelineRows struct {
	pgx.Rows
	p       *pipeline
	results pgx.BatchResults
}

func (r *pipelineRows) Close() error {
	r.Rows.Close()
	err := cmp.Or(r.Err(), r.results.Close())
	r.p.failed = cmp.Or(r.p.failed, err)
	return err
}
