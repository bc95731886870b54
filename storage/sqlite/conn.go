package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/partnerkit/partnerkit/storage"
)

// maxPrepared bounds the statements that a connection keeps. Ours are constants, so
// only a host that builds SQL from values can get there; those beyond are prepared for
// each use.
const maxPrepared = 512

// conn is a connection of the driver, for one goroutine at a time. It prepares each
// statement once. There is no database/sql in between: its pools, retries and locks
// have nothing to do on a file that is open, and cost as much as a short statement.
type conn struct {
	raw      driver.Conn
	prepared map[string]driver.Stmt

	// Of the statement that runs, kept to be used again.
	args   []driver.NamedValue
	values []driver.Value
}

func connect(ctx context.Context, from driver.Driver, dsn string) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	raw, err := from.Open(dsn)
	if err != nil {
		return nil, explain(err)
	}
	return &conn{raw: raw, prepared: make(map[string]driver.Stmt)}, nil
}

// statement is one that is to be done with after its use, or not.
type statement struct {
	driver.Stmt
	isKept bool
}

func (s statement) release() error {
	if s.isKept {
		return nil
	}
	return s.Close()
}

func (c *conn) prepare(ctx context.Context, query string) (statement, error) {
	if stmt, ok := c.prepared[query]; ok {
		return statement{stmt, true}, nil
	}
	preparer, ok := c.raw.(driver.ConnPrepareContext)
	if !ok {
		return statement{}, fmt.Errorf("sqlite: the driver's %T does not prepare under a context", c.raw)
	}
	stmt, err := preparer.PrepareContext(ctx, positional(query))
	if err != nil {
		return statement{}, err
	}
	if len(c.prepared) >= maxPrepared {
		return statement{stmt, false}, nil
	}
	c.prepared[query] = stmt
	return statement{stmt, true}, nil
}

// exec runs a statement and reports how many rows it changed.
func (c *conn) exec(ctx context.Context, query string, args []any) (int64, error) {
	stmt, err := c.prepare(ctx, query)
	if err != nil {
		return 0, explain(err)
	}
	result, err := c.execPrepared(ctx, stmt, args)
	if err := cmp.Or(err, stmt.release()); err != nil {
		return 0, explain(err)
	}
	return result.RowsAffected()
}

func (c *conn) execPrepared(ctx context.Context, stmt statement, args []any) (driver.Result, error) {
	runner, ok := stmt.Stmt.(driver.StmtExecContext)
	if !ok {
		return nil, fmt.Errorf("sqlite: the driver's %T does not run under a context", stmt.Stmt)
	}
	if err := c.bind(args); err != nil {
		return nil, err
	}
	defer clear(c.args)
	return runner.ExecContext(ctx, c.args)
}

// query runs a statement that returns rows, to be closed before the next one runs.
func (c *conn) query(ctx context.Context, query string, args []any) (rows, error) {
	stmt, err := c.prepare(ctx, query)
	if err != nil {
		return rows{}, explain(err)
	}
	found, err := c.queryPrepared(ctx, stmt, args)
	if err != nil {
		return rows{}, explain(cmp.Or(err, stmt.release()))
	}
	r := rows{raw: found, stmt: stmt, columns: len(found.Columns())}
	if r.direct, _ = found.(directRows); r.direct == nil {
		c.values = slices.Grow(c.values[:0], r.columns)[:r.columns]
		r.values = c.values
	}
	return r, nil
}

// directRows are those of a driver that can do without values in between: Next is called
// with no places for them.
type directRows interface {
	Value(column int) driver.Value
	// Scan reports false when the column does not go into dest as it is.
	Scan(column int, dest any) bool
}

func (c *conn) queryPrepared(ctx context.Context, stmt statement, args []any) (driver.Rows, error) {
	runner, ok := stmt.Stmt.(driver.StmtQueryContext)
	if !ok {
		return nil, fmt.Errorf("sqlite: the driver's %T does not run under a context", stmt.Stmt)
	}
	if err := c.bind(args); err != nil {
		return nil, err
	}
	defer clear(c.args)
	return runner.QueryContext(ctx, c.args)
}

// one scans the first row of a query.
func (c *conn) one(ctx context.Context, query string, args, dest []any) (err error) {
	found, err := c.query(ctx, query, args)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, found.close()) }()
	if found.next() {
		return found.scan(dest)
	}
	return cmp.Or(found.err, storage.ErrNoRows)
}

// bind makes of values what a driver takes.
func (c *conn) bind(args []any) error {
	c.args = c.args[:0]
	for i, arg := range args {
		switch arg.(type) {
		case nil, string, int64, []byte: // as they are
		default:
			value, err := driver.DefaultParameterConverter.ConvertValue(arg)
			if err != nil {
				return fmt.Errorf("sqlite: value of $%d: %w", i+1, err)
			}
			arg = value
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: arg})
	}
	return nil
}

// isValid is false after an interrupted statement, for one.
func (c *conn) isValid() bool {
	validator, ok := c.raw.(driver.Validator)
	return !ok || validator.IsValid()
}

func (c *conn) close() error {
	errs := make([]error, 0, len(c.prepared)+1)
	for _, stmt := range c.prepared {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// rows are those of the statement that its connection runs.
type rows struct {
	raw     driver.Rows
	direct  directRows // nil: they have values
	stmt    statement
	columns int
	values  []driver.Value // of the row that is being looked at
	err     error
	at      bool // a row
	closed  bool
}

// next goes on to the next row; after the last one the rows are closed.
func (r *rows) next() bool {
	r.at = false
	if r.closed {
		return false
	}
	switch err := r.raw.Next(r.values); {
	case err == nil:
		r.at = true
		return true
	case errors.Is(err, io.EOF):
		r.err = r.close()
	default:
		r.err = cmp.Or(explain(err), r.close())
	}
	return false
}

func (r *rows) scan(dest []any) error {
	if !r.at {
		return errors.New("sqlite: Scan without a row")
	}
	if len(dest) != r.columns {
		return fmt.Errorf("sqlite: Scan into %d of %d columns", len(dest), r.columns)
	}
	for i, to := range dest {
		if r.direct != nil && r.direct.Scan(i, to) {
			continue
		}
		if err := assign(to, r.value(i)); err != nil {
			return fmt.Errorf("sqlite: column %q: %w", r.raw.Columns()[i], err)
		}
	}
	return nil
}

func (r *rows) value(i int) driver.Value {
	if r.direct != nil {
		return r.direct.Value(i)
	}
	return r.values[i]
}

func (r *rows) close() error {
	if r.closed {
		return nil
	}
	r.closed, r.at = true, false
	clear(r.values)
	return explain(cmp.Or(r.raw.Close(), r.stmt.release()))
}
