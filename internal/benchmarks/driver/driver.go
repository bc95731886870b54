// Package driver measures what happens inside a database driver.
package driver

import (
	"context"
	"database/sql/driver"
	"runtime"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
)

// Meter measures the time and allocations of one goroutine, which is locked to its
// thread, inside the driver.
type Meter struct {
	cpu    time.Duration
	allocs uint64
	calls  int

	countAllocs bool
	memory      runtime.MemStats // here, so that reading them allocates nothing
}

// CPU returns the time of the processor that the thread spent inside the driver.
func (m *Meter) CPU() time.Duration { return m.cpu }

// Allocs returns how many allocations were made there while CountAllocs was on.
func (m *Meter) Allocs() uint64 { return m.allocs }

// CountAllocs counts allocations too, which stops the world at each call: not while
// time is measured.
func (m *Meter) CountAllocs(on bool) { m.countAllocs = on }

// OwnCPU returns the processor time of the meter itself that it does not count.
func (m *Meter) OwnCPU() time.Duration { return time.Duration(m.calls) * ownCost() }

// visit is a call of the driver that is under way.
type visit struct {
	cpu    time.Duration
	allocs uint64
}

func (m *Meter) in() visit {
	var v visit
	if m.countAllocs {
		v.allocs = m.mallocs()
	}
	v.cpu = bench.ThreadCPU()
	return v
}

func (m *Meter) out(v visit) {
	m.cpu += bench.ThreadCPU() - v.cpu
	m.calls++
	if m.countAllocs {
		m.allocs += m.mallocs() - v.allocs
	}
}

func (m *Meter) mallocs() uint64 {
	runtime.ReadMemStats(&m.memory)
	return m.memory.Mallocs
}

var ownCost = sync.OnceValue(func() time.Duration {
	const n = 100_000
	var m Meter
	begun := bench.ThreadCPU()
	for range n {
		m.out(m.in())
	}
	return (bench.ThreadCPU() - begun - m.cpu) / n
})

// Connector is how a connector is made from a data source name.
type Connector = func(dsn string) (driver.Connector, error)

// Measure wraps the connections of a connector in a meter.
func Measure(connect Connector) (Connector, *Meter) {
	m := &Meter{}
	return func(dsn string) (driver.Connector, error) {
		c, err := connect(dsn)
		return measured{c, m}, err
	}, m
}

type measured struct {
	driver.Connector
	m *Meter
}

func (d measured) Connect(ctx context.Context) (driver.Conn, error) {
	defer d.m.out(d.m.in())
	c, err := d.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{c, d.m}, nil
}

// conn passes on what a driver of today has.
type conn struct {
	driver.Conn
	m *Meter
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	defer c.m.out(c.m.in())
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &stmt{s, c.m}, nil
}

func (c *conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	defer c.m.out(c.m.in())
	t, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	return tx{t, c.m}, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	defer c.m.out(c.m.in())
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	defer c.m.out(c.m.in())
	r, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return &rows{r, c.m}, nil
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (c *conn) ResetSession(ctx context.Context) error {
	if resetter, ok := c.Conn.(driver.SessionResetter); ok {
		return resetter.ResetSession(ctx)
	}
	return nil
}

func (c *conn) IsValid() bool {
	if validator, ok := c.Conn.(driver.Validator); ok {
		return validator.IsValid()
	}
	return true
}

type tx struct {
	driver.Tx
	m *Meter
}

func (t tx) Commit() error {
	defer t.m.out(t.m.in())
	return t.Tx.Commit()
}

func (t tx) Rollback() error {
	defer t.m.out(t.m.in())
	return t.Tx.Rollback()
}

type stmt struct {
	driver.Stmt
	m *Meter
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	defer s.m.out(s.m.in())
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	defer s.m.out(s.m.in())
	r, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	return &rows{r, s.m}, nil
}

type rows struct {
	driver.Rows
	m *Meter
}

func (r *rows) Next(dest []driver.Value) error {
	defer r.m.out(r.m.in())
	return r.Rows.Next(dest)
}

func (r *rows) Close() error {
	defer r.m.out(r.m.in())
	return r.Rows.Close()
}
