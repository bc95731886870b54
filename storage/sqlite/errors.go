package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/partnerkit/partnerkit/storage"
)

// explain adds to an error of SQLite the one of storage that it amounts to, so
// that callers need not know the driver.
func explain(err error) error {
	if err == nil {
		return nil
	}
	var fault *sqlite.Error
	if !errors.As(err, &fault) {
		return err
	}
	switch primary(fault) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: %w", storage.ErrBusy, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%w: %w", storage.ErrReadOnly, err)
	}
	return err
}

// primary is the result code without the extension in its upper bytes.
func primary(fault *sqlite.Error) int { return fault.Code() & 0xff }

// isUndone tells a commit that surely did not happen from one whose outcome is
// unknown.
func isUndone(err error) bool {
	if err == nil {
		return false
	}
	var fault *sqlite.Error
	if !errors.As(err, &fault) {
		return false
	}
	switch primary(fault) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_BUSY:
		return true
	}
	return false
}

// hint says what a person can do about a database that would not open.
func hint(err error) string {
	var fault *sqlite.Error
	switch {
	case errors.Is(err, storage.ErrReadOnly):
		return "; the file and its directory must be writable"
	case errors.Is(err, storage.ErrFull):
		return "; free some space and start again, nothing was changed"
	case errors.Is(err, storage.ErrBusy):
		return "; another program holds the file, close it and start again"
	case errors.As(err, &fault) && primary(fault) == sqlite3.SQLITE_NOTADB:
		return "; this is not an SQLite file, name another one"
	case errors.As(err, &fault) && primary(fault) == sqlite3.SQLITE_CANTOPEN:
		return "; its directory must exist and be writable"
	}
	return ""
}
