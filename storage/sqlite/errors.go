package sqlite

import (
	"errors"
	"fmt"

	lib "modernc.org/sqlite/lib"

	"github.com/partnerkit/partnerkit/internal/sqlitedriver"
	"github.com/partnerkit/partnerkit/storage"
)

// explain adds to an error of SQLite the one of storage that it amounts to, so
// that callers need not know the driver.
func explain(err error) error {
	switch sqlitedriver.Code(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("%w: %w", storage.ErrBusy, err)
	case lib.SQLITE_FULL:
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	case lib.SQLITE_READONLY:
		return fmt.Errorf("%w: %w", storage.ErrReadOnly, err)
	}
	return err
}

// isUndone tells a commit that surely did not happen from one whose outcome is
// unknown.
func isUndone(err error) bool {
	switch sqlitedriver.Code(err) {
	case lib.SQLITE_FULL, lib.SQLITE_CONSTRAINT, lib.SQLITE_BUSY:
		return true
	}
	return false
}

// hint says what a person can do about a database that would not open.
func hint(err error) string {
	switch {
	case errors.Is(err, storage.ErrReadOnly):
		return "; the file and its directory must be writable"
	case errors.Is(err, storage.ErrFull):
		return "; free some space and start again, nothing was changed"
	case errors.Is(err, storage.ErrBusy):
		return "; another program holds the file, close it and start again"
	case sqlitedriver.Code(err) == lib.SQLITE_NOTADB:
		return "; this is not an SQLite file, name another one"
	case sqlitedriver.Code(err) == lib.SQLITE_CANTOPEN:
		return "; its directory must exist and be writable"
	}
	return ""
}
