// Package failure marks errors that are not the caller's: the store or the host failed.
package failure

import (
	"errors"
	"fmt"
)

// Err is wrapped by every internal error.
var Err = errors.New("internal error")

// Wrap wraps an error with [Err] and what was being done; nil stays nil.
func Wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %w", Err, doing, err)
}
