package sqlite

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"

	"github.com/partnerkit/partnerkit/storage"
)

// explain adds to an error of SQLite the one of storage that it amounts to, so
// that callers need not know the driver.
func explain(err error) error {
	switch code(err) {
	case sqlite.ResultBusy, sqlite.ResultLocked:
		return fmt.Errorf("%w: %w", storage.ErrBusy, err)
	case sqlite.ResultFull:
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	case sqlite.ResultReadOnly:
		return fmt.Errorf("%w: %w", storage.ErrReadOnly, err)
	}
	return err
}

// code is what SQLite says of an error, without the details in its upper bytes.
func code(err error) sqlite.ResultCode { return sqlite.ErrCode(err).ToPrimary() }

// isUndone tells a commit that surely did not happen from one whose outcome is
// unknown.
func isUndone(err error) bool {
	switch code(err) {
	case sqlite.ResultFull, sqlite.ResultConstraint, sqlite.ResultBusy:
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
	case code(err) == sqlite.ResultNotADB:
		return "; this is not an SQLite file, name another one"
	case code(err) == sqlite.ResultCantOpen:
		return "; its directory must exist and be writable"
	}
	return ""
}
