package sqlite

import (
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"

	"github.com/partnerkit/partnerkit/storage"
)

// Primary result codes of SQLite, https://www.sqlite.org/rescode.html.
const (
	codeError      = 1 // any error in a statement
	codeBusy       = 5
	codeLocked     = 6
	codeReadOnly   = 8
	codeFull       = 13
	codeCantOpen   = 14
	codeConstraint = 19
	codeNotADB     = 26
)

// code returns the primary result code of an error of SQLite, or 0 for another error.
func code(err error) int {
	if err == nil {
		return 0
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff // extended codes have more bits
}

// explain adds the matching error of package storage to an error of SQLite, so that
// callers need not know the driver.
func explain(err error) error {
	switch code(err) {
	case codeBusy, codeLocked:
		return fmt.Errorf("%w: %w", storage.ErrBusy, err)
	case codeFull:
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	case codeError:
		if strings.Contains(err.Error(), "no such table") { // SQLite has no error code for it
			return fmt.Errorf("%w: %w", storage.ErrNoTable, err)
		}
	case codeReadOnly:
		return fmt.Errorf("%w: %w", storage.ErrReadOnly, err)
	}
	return err
}

// isUndone reports whether a commit that failed with err certainly did not happen. After
// other errors its outcome is unknown.
func isUndone(err error) bool {
	switch code(err) {
	case codeFull, codeConstraint, codeBusy:
		return true
	}
	return false
}

// hint returns advice for a database that could not be opened.
func hint(err error) string {
	switch {
	case errors.Is(err, storage.ErrReadOnly):
		return "; the file and its directory must be writable"
	case errors.Is(err, storage.ErrFull):
		return "; free some space and start again, nothing was changed"
	case errors.Is(err, storage.ErrBusy):
		return "; another program holds the file, close it and start again"
	case code(err) == codeNotADB:
		return "; this is not an SQLite file, name another one"
	case code(err) == codeCantOpen:
		return "; its directory must exist and be writable"
	}
	return ""
}
