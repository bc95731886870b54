package ratelimit

import (
	"context"
	"errors"
	"time"
)

// Limiter counts requests and failures. Implementations are safe for
// concurrent use.
type Limiter interface {
	// Check counts the request in each of its counters and reports whether it is
	// allowed. It counts the request even if a lockout or another counter rejects it.
	//
	// An error means that the limiter could not tell: it wraps ErrInvalid when
	// the request makes no sense, ErrUnavailable when the place where the
	// counts are kept could not be reached, or is the context's own error. The Result
	// is then the zero Result, which refuses.
	Check(ctx context.Context, now time.Time, req Request) (Result, error)

	// Fail records one failure for each of the lockouts, unless one of them is
	// locked out: then it records nothing and the Result refuses. Of any number of
	// failures at once, those up to the one that locks out are allowed and no more, and
	// the Result of that one has BeganLockout. Errors are those of Check.
	Fail(ctx context.Context, now time.Time, failed Lockouts) (Result, error)

	// Forgive takes back one failure of each of the lockouts, which Fail recorded
	// and allowed, for an attempt that was counted before its outcome was known and
	// has succeeded. A lockout that this failure began ends. Errors are those of
	// Check.
	Forgive(ctx context.Context, now time.Time, failed Lockouts) error
}

var (
	// ErrInvalid is wrapped by the errors about limits and rules that make no
	// sense, such as a window without a length. It is a mistake of the program,
	// never of its client.
	ErrInvalid = errors.New("invalid limit")

	// ErrUnavailable is wrapped by the errors of a limiter that cannot reach
	// its counts and is configured to fail closed. It is an internal error:
	// respond with a 5xx, not with 429.
	ErrUnavailable error = unavailableError{}
)

type unavailableError struct{}

func (unavailableError) Error() string { return "rate limiter unavailable" }

// IsTemporary makes the error a 503 of package apierror.
func (unavailableError) IsTemporary() bool { return true }
