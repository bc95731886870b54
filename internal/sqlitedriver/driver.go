// Package sqlitedriver is a driver for database/sql over zombiezen.com/go/sqlite, which is
// modernc.org/sqlite without its own driver. That one asks SQLite for the name and the
// type of every column of every query, and has it lock a mutex for every call: half of
// what a short statement costs. This one knows a statement from when it was prepared, and
// its connections are for one goroutine at a time, as those of database/sql always are.
//
// A value comes back as SQLite has it: int64, float64, string, []byte or nil.
package sqlitedriver

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strings"

	lib "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
)

// Driver opens files. The name of one is a URI, whose parameters _pragma say what to set
// on the connection, in this order: "file:books.db?_pragma=busy_timeout(5000)". Without a
// parameter vfs it has the one of this package, see wal.go.
type Driver struct{}

// Open implements driver.Driver.
func (Driver) Open(name string) (driver.Conn, error) {
	if !strings.HasPrefix(name, "file:") {
		return nil, fmt.Errorf("sqlite: %q does not begin with file: as the name of a database does", name)
	}
	path, query, _ := strings.Cut(name, "?")
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("sqlite: parameters of the name: %w", err)
	}
	if !parameters.Has("vfs") {
		if rc := register(); rc != lib.SQLITE_OK {
			return nil, fmt.Errorf("sqlite: register the VFS: error %d", rc)
		}
		name = path + "?vfs=" + vfsName + "&" + query
	}
	raw, err := sqlite.OpenConn(name, sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenURI)
	if err != nil {
		return nil, cmp.Or(errors.Unwrap(err), err) // without the name, which callers know
	}
	raw.SetBusyTimeout(0) // unless a pragma says otherwise; it would wait for ever
	c := &conn{raw: raw}
	for _, pragma := range parameters["_pragma"] {
		if err := c.exec("PRAGMA " + pragma); err != nil {
			return nil, errors.Join(fmt.Errorf("set %s: %w", pragma, err), c.Close())
		}
	}
	return c, nil
}

type conn struct{ raw *sqlite.Conn }

// Prepare implements driver.Conn.
func (c *conn) Prepare(query string) (driver.Stmt, error) { return c.prepare(query) }

// PrepareContext implements driver.ConnPrepareContext.
func (c *conn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	return c.prepare(query)
}

// prepare looks at the first of several statements; the others are prepared when it has
// run, since they may need it.
func (c *conn) prepare(query string) (*stmt, error) {
	switch {
	case strings.Contains(query, "\x00"):
		return nil, errors.New("sqlite: a NUL in a statement")
	case beginning(query) == "":
		return nil, errors.New("sqlite: an empty statement")
	}
	raw, left, err := c.raw.PrepareTransient(query)
	if err != nil {
		return nil, err
	}
	s := &stmt{conn: c, raw: raw, rest: beginning(query[len(query)-left:]), columns: make([]string, raw.ColumnCount())}
	for i := range s.columns {
		s.columns[i] = raw.ColumnName(i)
	}
	if s.places, err = places(raw); err != nil {
		return nil, errors.Join(err, raw.Finalize())
	}
	return s, nil
}

// beginning is a text from where its next statement begins.
func beginning(text string) string {
	for {
		text = strings.TrimLeft(text, "; \t\n\f\r\ufeff")
		switch {
		case strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text[2:], "*/")
		default:
			return text
		}
	}
}

// exec runs a statement of no values.
func (c *conn) exec(query string) error {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	return errors.Join(s.run(nil), s.Close())
}

// watch interrupts what runs once the context ends, until the function that it returns is
// called.
func (c *conn) watch(ctx context.Context) (unwatch func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	before := c.raw.SetInterrupt(ctx.Done())
	return func() { c.raw.SetInterrupt(before) }
}

// Begin implements driver.Conn.
func (c *conn) Begin() (driver.Tx, error) { return tx{c}, c.exec("BEGIN") }

// Close implements driver.Conn.
func (c *conn) Close() error { return c.raw.Close() }

type tx struct{ conn *conn }

// Commit implements driver.Tx.
func (t tx) Commit() error { return t.conn.exec("COMMIT") }

// Rollback implements driver.Tx.
func (t tx) Rollback() error { return t.conn.exec("ROLLBACK") }
