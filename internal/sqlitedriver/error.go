package sqlitedriver

import (
	"errors"
	"fmt"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Error is what SQLite says of a call that failed.
type Error struct {
	Code int32 // with its details in the upper bytes, see sqlite.org/rescode.html
	text string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("sqlite: %s (%d)", e.text, e.Code) }

// Code is the kind of an error of SQLite, such as lib.SQLITE_BUSY, without details; that of
// another error is SQLITE_OK.
func Code(err error) int32 {
	if of, ok := errors.AsType[*Error](err); ok {
		return of.Code & 0xff
	}
	return lib.SQLITE_OK
}

// failure is the error of the call that has just returned rc, nil if it is none.
func (c *conn) failure(rc int32) error {
	if rc == lib.SQLITE_OK {
		return nil
	}
	return &Error{rc, libc.GoString(lib.Xsqlite3_errmsg(c.tls, c.db))}
}
