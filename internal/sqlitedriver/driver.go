// Package sqlitedriver is a driver for database/sql over modernc.org/sqlite/lib, which is
// SQLite in Go. The driver that comes with it asks SQLite for the name and the type of every
// column of every query, and has it lock a mutex for every call: half of what a short
// statement costs. This one knows a statement from when it was prepared, and its connections
// are for one goroutine at a time, as those of database/sql always are.
//
// A value comes back as SQLite has it: int64, float64, string, []byte or nil.
package sqlitedriver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
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
	c, err := connect(name)
	if err != nil {
		return nil, err
	}
	for _, pragma := range parameters["_pragma"] {
		if err := c.exec("PRAGMA " + pragma); err != nil {
			return nil, errors.Join(fmt.Errorf("set %s: %w", pragma, err), c.Close())
		}
	}
	return c, nil
}

type conn struct {
	tls *libc.TLS // what a thread is to C
	db  uintptr
	ctx context.Context //nolint:containedctx // of the statement that runs
}

// conns has the connections by what SQLite knows them as, which is what it calls isOver with.
var conns sync.Map

// many is how many steps of its machine SQLite takes before it asks whether to go on: more
// than short statements have. A step may be long, such as one that counts a whole table.
const many = 100

// pointer is the size of one to SQLite, and of a value among several that a call takes.
const pointer = 8

var errClosed = errors.New("sqlite: the connection is closed")

func connect(name string) (*conn, error) {
	if strings.Contains(name, "\x00") {
		return nil, errors.New("sqlite: a NUL in the name of the database")
	}
	c := &conn{tls: libc.NewTLS(), ctx: context.Background()}
	rc := c.open(name)
	if rc == lib.SQLITE_OK {
		rc = c.configure()
	}
	if err := c.failure(rc); err != nil {
		return nil, errors.Join(err, c.end())
	}
	return c, nil
}

func (c *conn) open(name string) int32 {
	text, err := libc.CString(name)
	if err != nil {
		return lib.SQLITE_NOMEM
	}
	defer libc.Xfree(c.tls, text)
	db := c.tls.Alloc(pointer)
	defer c.tls.Free(pointer)
	*memory[uintptr](db) = 0
	rc := lib.Xsqlite3_open_v2(c.tls, text, db, lib.SQLITE_OPEN_READWRITE|lib.SQLITE_OPEN_CREATE|lib.SQLITE_OPEN_URI|lib.SQLITE_OPEN_NOMUTEX, 0)
	c.db = *memory[uintptr](db) // to be closed, whether it is open or not
	return rc
}

// configure has errors come with their details, contexts watched, and text in double quotes
// be a name, never a value.
func (c *conn) configure() int32 {
	lib.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	conns.Store(c.db, c)
	lib.Xsqlite3_progress_handler(c.tls, c.db, many, address(isOver), c.db)
	values := c.tls.Alloc(2 * pointer)
	defer c.tls.Free(2 * pointer)
	for _, option := range []int32{lib.SQLITE_DBCONFIG_DQS_DDL, lib.SQLITE_DBCONFIG_DQS_DML} {
		if rc := lib.Xsqlite3_db_config(c.tls, c.db, option, libc.VaList(values, int32(0), uintptr(0))); rc != lib.SQLITE_OK {
			return rc
		}
	}
	return lib.SQLITE_OK
}

// isOver ends the statement that runs when its context has ended.
func isOver(_ *libc.TLS, db uintptr) int32 {
	if c, ok := conns.Load(db); ok && c.(*conn).ctx.Err() != nil { //nolint:forcetypeassert // see conns
		return 1
	}
	return 0
}

// Prepare implements driver.Conn.
func (c *conn) Prepare(query string) (driver.Stmt, error) { return c.prepare(query) }

// PrepareContext implements driver.ConnPrepareContext.
func (c *conn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	return c.prepare(query)
}

// exec runs a statement of no values.
func (c *conn) exec(query string) error {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	return errors.Join(s.run(context.Background(), nil), s.Close())
}

// Begin implements driver.Conn.
func (c *conn) Begin() (driver.Tx, error) { return tx{c}, c.exec("BEGIN") }

// Close implements driver.Conn. It fails while there are statements.
func (c *conn) Close() error {
	if c.db == 0 {
		return errClosed
	}
	return c.end()
}

func (c *conn) end() error {
	if err := c.failure(lib.Xsqlite3_close(c.tls, c.db)); err != nil {
		return err
	}
	conns.CompareAndDelete(c.db, c) // another one may be there already
	c.db = 0
	c.tls.Close()
	return nil
}

type tx struct{ conn *conn }

// Commit implements driver.Tx.
func (t tx) Commit() error { return t.conn.exec("COMMIT") }

// Rollback implements driver.Tx.
func (t tx) Rollback() error { return t.conn.exec("ROLLBACK") }
