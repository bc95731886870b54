package sqlitedriver

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"

	"zombiezen.com/go/sqlite"
)

type stmt struct {
	conn    *conn
	raw     *sqlite.Stmt
	rest    string // the statements after it
	columns []string
	places  []int // which value each parameter takes
	open    *rows // of its last use, if they are not closed
}

// places tells which value each parameter takes, from 1. SQLite counts them by where they
// appear first; those that are written $2 or ?2 say so themselves.
func places(raw *sqlite.Stmt) ([]int, error) {
	of := make([]int, raw.BindParamCount())
	for i := range of {
		name := raw.BindParamName(i + 1)
		if name == "" {
			of[i] = i + 1
			continue
		}
		place, err := strconv.Atoi(name[1:])
		if err != nil || place < 1 {
			return nil, fmt.Errorf("sqlite: parameter %s has no number", name)
		}
		of[i] = place
	}
	return of, nil
}

// NumInput implements driver.Stmt; values are counted as they are bound.
func (s *stmt) NumInput() int { return -1 }

// Close implements driver.Stmt, and closes its rows.
func (s *stmt) Close() error { return errors.Join(s.closeRows(), s.raw.Finalize()) }

func (s *stmt) closeRows() error {
	if s.open == nil {
		return nil
	}
	return s.open.Close()
}

// Exec implements driver.Stmt.
func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(args))
}

// Query implements driver.Stmt.
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(args))
}

func named(args []driver.Value) []driver.NamedValue {
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return values
}

// ExecContext implements driver.StmtExecContext. The same values are for each of several
// statements.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	defer s.conn.watch(ctx)()
	if err := s.run(args); err != nil {
		return nil, reason(ctx, err)
	}
	for rest := s.rest; rest != ""; {
		next, err := s.conn.prepare(rest)
		if err != nil {
			return nil, reason(ctx, err)
		}
		rest = next.rest
		if err := errors.Join(next.run(args), next.Close()); err != nil {
			return nil, reason(ctx, err)
		}
	}
	return driver.RowsAffected(s.conn.raw.Changes()), nil
}

// run steps to the end, past rows that nobody asked for.
func (s *stmt) run(args []driver.NamedValue) error {
	if err := s.bind(args); err != nil {
		return err
	}
	for {
		isRow, err := s.raw.Step()
		if err != nil || !isRow {
			return cmp.Or(err, s.release())
		}
	}
}

// QueryContext implements driver.StmtQueryContext. What a statement does it has done, or
// begun to do, when this returns, whether its rows are read or not.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if s.rest != "" {
		return nil, errors.New("sqlite: rows of several statements; query one at a time")
	}
	if err := s.bind(args); err != nil {
		return nil, err
	}
	r := &rows{stmt: s, ctx: ctx, unwatch: s.conn.watch(ctx)}
	isRow, err := s.raw.Step()
	if err != nil {
		r.unwatch()
		_ = s.release()
		return nil, reason(ctx, err)
	}
	if n := s.raw.ColumnCount(); n != len(s.columns) { // a table has changed since; nobody tells the names
		s.columns = make([]string, n)
	}
	r.isAhead, r.isRow = true, isRow
	s.open = r
	return r, nil
}

// reason says why a statement was interrupted, if it was.
func reason(ctx context.Context, err error) error {
	if sqlite.ErrCode(err) == sqlite.ResultInterrupt {
		return cmp.Or(ctx.Err(), err)
	}
	return err
}

// bind begins a use of the statement, which ends the one before.
func (s *stmt) bind(args []driver.NamedValue) error {
	if err := s.closeRows(); err != nil {
		return err
	}
	for i, place := range s.places {
		if place > len(args) {
			return fmt.Errorf("sqlite: no value for parameter %d, %d are given", place, len(args))
		}
		switch value := args[place-1].Value.(type) {
		case nil:
			s.raw.BindNull(i + 1)
		case int64:
			s.raw.BindInt64(i+1, value)
		case float64:
			s.raw.BindFloat(i+1, value)
		case bool:
			s.raw.BindBool(i+1, value)
		case string:
			s.raw.BindText(i+1, value)
		case []byte:
			if value == nil {
				s.raw.BindNull(i + 1)
			} else {
				s.raw.BindBytes(i+1, value)
			}
		default:
			return fmt.Errorf("sqlite: parameter %d is a %T, which SQLite has no type for; pass text or a number", place, value)
		}
	}
	return nil
}

// release ends a use of the statement, and lets go of its values.
func (s *stmt) release() error {
	err := s.raw.Reset()
	if len(s.places) > 0 {
		_ = s.raw.ClearBindings() // which fails once the context has ended; what was done is done
	}
	return err
}
