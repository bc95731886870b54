package sqlitedriver

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"

	"zombiezen.com/go/sqlite"
)

type stmt struct {
	conn    *conn
	raw     *sqlite.Stmt
	rest    string // the statements after it
	columns []string
	places  []int // which value each parameter takes
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

// Close implements driver.Stmt.
func (s *stmt) Close() error { return s.raw.Finalize() }

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
	changed := s.conn.raw.Changes()
	if s.rest == "" {
		return driver.RowsAffected(changed), nil
	}
	next, err := s.conn.PrepareContext(ctx, s.rest)
	if err != nil {
		return nil, err
	}
	defer next.Close()
	return next.(*stmt).ExecContext(ctx, args)
}

// run steps to the end, past rows that nobody asked for.
func (s *stmt) run(args []driver.NamedValue) error {
	if err := s.bind(args); err != nil {
		return err
	}
	for {
		switch isRow, err := s.raw.Step(); {
		case err != nil:
			return err // which has reset it
		case !isRow:
			return s.raw.Reset()
		}
	}
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if s.rest != "" {
		return nil, errors.New("sqlite: rows of several statements; query one at a time")
	}
	if err := s.bind(args); err != nil {
		return nil, err
	}
	return &rows{stmt: s, ctx: ctx, unwatch: s.conn.watch(ctx)}, nil
}

// watch interrupts what runs once the context ends, until the function that it returns is
// called.
func (c *conn) watch(ctx context.Context) (unwatch func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	c.raw.SetInterrupt(ctx.Done())
	return func() { c.raw.SetInterrupt(nil) }
}

// reason says why a statement was interrupted, if it was.
func reason(ctx context.Context, err error) error {
	if sqlite.ErrCode(err) == sqlite.ResultInterrupt {
		return cmp.Or(ctx.Err(), err)
	}
	return err
}

func (s *stmt) bind(args []driver.NamedValue) error {
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

type rows struct {
	stmt    *stmt
	ctx     context.Context //nolint:containedctx // the rows live as long as it
	unwatch func()
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string { return r.stmt.columns }

// Next implements driver.Rows.
func (r *rows) Next(dest []driver.Value) error {
	raw := r.stmt.raw
	isRow, err := raw.Step()
	if err != nil {
		return reason(r.ctx, err)
	}
	if !isRow {
		return io.EOF
	}
	for i := range dest {
		switch raw.ColumnType(i) {
		case sqlite.TypeInteger:
			dest[i] = raw.ColumnInt64(i)
		case sqlite.TypeFloat:
			dest[i] = raw.ColumnFloat(i)
		case sqlite.TypeText:
			dest[i] = raw.ColumnText(i)
		case sqlite.TypeBlob:
			data := make([]byte, raw.ColumnLen(i))
			raw.ColumnBytes(i, data)
			dest[i] = data
		default:
			dest[i] = nil
		}
	}
	return nil
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	defer r.unwatch()
	return r.stmt.raw.Reset()
}
