// Package sqlitedriver is a driver for database/sql over zombiezen.com/go/sqlite, which is
// modernc.org/sqlite without its own driver. That one asks SQLite for the name and the
// type of every column of every query, and has it lock a mutex for every call: half of
// what a short statement costs. This one knows a statement from when it was prepared, and
// its connections are for one goroutine at a time, as those of database/sql always are.
//
// A value comes back as SQLite has it: int64, float64, string, []byte or nil.
package sqlitedriver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"net/url"
	"strings"

	"zombiezen.com/go/sqlite"
)

// Driver opens files. The name of one is a URI, whose parameters _pragma say what to set
// on the connection, in this order: "file:books.db?_pragma=busy_timeout(5000)".
type Driver struct{}

// Open implements driver.Driver.
func (Driver) Open(name string) (driver.Conn, error) {
	raw, err := sqlite.OpenConn(name, sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenURI)
	if err != nil {
		return nil, err
	}
	c := &conn{raw: raw}
	for _, pragma := range pragmas(name) {
		if _, err := c.exec(context.Background(), "PRAGMA "+pragma); err != nil {
			_ = c.Close()
			return nil, fmt.Errorf("set %s: %w", pragma, err)
		}
	}
	return c, nil
}

func pragmas(name string) []string {
	_, query, _ := strings.Cut(name, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil // then SQLite has not found any either
	}
	return values["_pragma"]
}

type conn struct{ raw *sqlite.Conn }

// Prepare implements driver.Conn.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext implements driver.ConnPrepareContext. Of several statements it looks at
// the first one; the others are prepared when it has run, since they may need it.
func (c *conn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	raw, left, err := c.raw.PrepareTransient(query)
	if err != nil {
		return nil, err
	}
	s := &stmt{conn: c, raw: raw, rest: beginning(query[len(query)-left:]), columns: make([]string, raw.ColumnCount())}
	for i := range s.columns {
		s.columns[i] = raw.ColumnName(i)
	}
	if s.places, err = places(raw); err != nil {
		_ = raw.Finalize()
		return nil, err
	}
	return s, nil
}

// beginning is a text from where its next statement begins.
func beginning(text string) string {
	for {
		text = strings.TrimLeft(text, "; \t\r\n")
		switch {
		case strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text, "*/")
		default:
			return text
		}
	}
}

// exec runs a statement of no values.
func (c *conn) exec(ctx context.Context, query string) (driver.Result, error) {
	s, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.(*stmt).ExecContext(ctx, nil)
}

// Begin implements driver.Conn.
func (c *conn) Begin() (driver.Tx, error) {
	_, err := c.exec(context.Background(), "BEGIN")
	return tx{c}, err
}

// Close implements driver.Conn.
func (c *conn) Close() error { return c.raw.Close() }

type tx struct{ conn *conn }

// Commit implements driver.Tx.
func (t tx) Commit() error { return t.end("COMMIT") }

// Rollback implements driver.Tx.
func (t tx) Rollback() error { return t.end("ROLLBACK") }

func (t tx) end(how string) error {
	_, err := t.conn.exec(context.Background(), how)
	return err
}
