package console

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/partnerkit/partnerkit/internal/codes"
)

// FunctionChecker checks the source of a function before the console stores it. Package
// console/jscheck has one for JavaScript. It must be safe for concurrent use.
type FunctionChecker interface {
	// CheckFunction returns nil if the source is accepted, and a [*SourceError] if it is
	// rejected: the response is FUNCTION_SOURCE_NO_HANDLER with the error's text, or
	// FUNCTION_SOURCE_TOO_COMPLEX. Any other error is an internal error. It is called for
	// at most as many sources at a time as Go uses CPUs. The source is valid UTF-8 without NUL and has
	// at most [MaxFunctionSource] bytes.
	CheckFunction(ctx context.Context, source string) error
}

// FunctionCheckerFunc is a function as a [FunctionChecker].
type FunctionCheckerFunc func(ctx context.Context, source string) error

// CheckFunction calls f.
func (f FunctionCheckerFunc) CheckFunction(ctx context.Context, source string) error {
	return f(ctx, source)
}

// SourceError is the reason why a function's source is rejected. Developers read it.
type SourceError struct {
	Line   int    `json:"line"`   // from 1; 0: not a matter of one line
	Column int    `json:"column"` // in bytes, from 1; 0: unknown
	Reason string `json:"reason"`
	// TooComplex says that the check was given up because it takes too much.
	TooComplex bool `json:"tooComplex,omitempty"`
}

// Error returns the reason, after the position if it is known.
func (e *SourceError) Error() string {
	switch {
	case e.Line == 0:
		return e.Reason
	case e.Column == 0:
		return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// checkSource returns an error of apierror if the source is rejected, or if the organization has
// used up its checks.
func (c *Console) checkSource(ctx context.Context, organizationID, source string) error {
	var err error
	if c.cfg.FunctionChecker != nil {
		if err := c.beginCheck(ctx, organizationID); err != nil {
			return err
		}
		defer c.checks.give()
	}
	if c.cfg.FunctionChecker != nil {
		err = c.cfg.FunctionChecker.CheckFunction(ctx, source)
	} else if strings.TrimSpace(source) == "" {
		err = &SourceError{Reason: "it is empty"}
	}
	var rejected *SourceError
	switch {
	case errors.As(err, &rejected) && rejected.TooComplex:
		return codes.FunctionTooComplex.New(rejected.Error())
	case rejected != nil:
		return codes.FunctionSourceNoHandler.New(rejected.Error())
	}
	return err
}
