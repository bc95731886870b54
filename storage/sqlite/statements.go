package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/partnerkit/partnerkit/storage"
)

// maxPrepared bounds the statements that a cache keeps. Ours are constants, so
// only a host that builds SQL from values can get there; those beyond are
// prepared for each use.
const maxPrepared = 512

// preparer is a *sql.Conn or a *sql.DB.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// statements runs each statement prepared, and prepares it once.
type statements struct {
	on preparer

	mu       sync.RWMutex
	prepared map[string]*sql.Stmt
	closed   bool
}

func newStatements(on preparer) *statements {
	return &statements{on: on, prepared: make(map[string]*sql.Stmt)}
}

// prepare returns nil without an error when the cache is full.
func (s *statements) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	s.mu.RLock()
	stmt, ok := s.prepared[query]
	full, closed := len(s.prepared) >= maxPrepared, s.closed
	s.mu.RUnlock()
	switch {
	case closed:
		return nil, storage.ErrClosed
	case ok || full:
		return stmt, nil
	}
	stmt, err := s.on.PrepareContext(ctx, positional(query))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.Join(storage.ErrClosed, stmt.Close())
	}
	if first, ok := s.prepared[query]; ok {
		return first, stmt.Close()
	}
	s.prepared[query] = stmt
	return stmt, nil
}

func (s *statements) Exec(ctx context.Context, query string, args ...any) (int64, error) {
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
	return result.RowsAffected()
}

func (s *statements) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil, explain(err)
	}
	var rows *sql.Rows
	if stmt != nil {
		rows, err = stmt.QueryContext(ctx, args...)
	} else {
		rows, err = s.on.QueryContext(ctx, query, args...)
	}
	if err != nil {
		return nil, explain(err)
	}
	return rows, nil
}

func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := make([]error, 0, len(s.prepared))
	for _, stmt := range s.prepared {
		errs = append(errs, stmt.Close())
	}
	s.prepared, s.closed = nil, true
	return errors.Join(errs...)
}
