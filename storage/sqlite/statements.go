package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/partnerkit/partnerkit/storage"
)

// maxPrepared bounds the prepared statements that are kept. Ours are constants, so only a
// host that builds SQL from values gets there; further statements are prepared for each
// use.
const maxPrepared = 512

// statements runs statements on a pool or on one connection and prepares each of them
// once. It is safe for concurrent use if the pool or connection is.
type statements struct {
	on interface { // *sql.DB or *sql.Conn
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}

	mu       sync.RWMutex
	prepared map[string]*sql.Stmt
}

// prepare returns the prepared statement of a query, or nil if no more are kept.
func (s *statements) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	s.mu.RLock()
	stmt, n := s.prepared[query], len(s.prepared)
	s.mu.RUnlock()
	if stmt != nil || n >= maxPrepared {
		return stmt, nil
	}
	stmt, err := s.on.PrepareContext(ctx, positional(query))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.prepared[query]; other != nil {
		return other, stmt.Close()
	}
	if s.prepared == nil {
		s.prepared = map[string]*sql.Stmt{}
	}
	s.prepared[query] = stmt
	return stmt, nil
}

// exec runs a statement and returns how many rows it changed.
func (s *statements) exec(ctx context.Context, query string, args []any) (int64, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return 0, explain(err)
	}
	var result sql.Result
	if stmt != nil {
		result, err = stmt.ExecContext(ctx, args...)
	} else {
		result, err = s.on.ExecContext(ctx, query, args...)
	}
	if err != nil {
		return 0, explain(err)
	}
	return affected(result)
}

// affected returns the number of changed rows. For a text without a statement, such as a
// comment, the driver returns a nil result, for which database/sql panics.
func affected(result sql.Result) (n int64, err error) {
	defer func() {
		if recover() != nil {
			n, err = 0, errors.New("sqlite: empty statement")
		}
	}()
	return result.RowsAffected()
}

// query runs a statement that returns rows.
func (s *statements) query(ctx context.Context, query string, args []any) (rows, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return rows{}, explain(err)
	}
	var found *sql.Rows
	if stmt != nil {
		found, err = stmt.QueryContext(ctx, args...)
	} else {
		found, err = s.on.QueryContext(ctx, query, args...)
	}
	return rows{found}, explain(err)
}

// one scans the first row of a query.
func (s *statements) one(ctx context.Context, query string, args, dest []any) (err error) {
	found, err := s.query(ctx, query, args)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, found.Close()) }()
	if found.Next() {
		return found.Scan(dest...)
	}
	return cmp.Or(found.Err(), storage.ErrNoRows)
}

func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := make([]error, 0, len(s.prepared))
	for _, stmt := range s.prepared {
		errs = append(errs, stmt.Close())
	}
	s.prepared = nil
	return errors.Join(errs...)
}

// rows implements [storage.Rows] with our errors.
type rows struct{ *sql.Rows }

func (r rows) Err() error   { return explain(r.Rows.Err()) }
func (r rows) Close() error { return explain(r.Rows.Close()) }
