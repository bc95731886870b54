// Package hostcall calls functions of the host whose result a page can do without: the
// choice of a language, a theme. A function that panics or blocks does not break the page.
package hostcall

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

const (
	// Deadline is how long a page waits for a function. It is measured in real time.
	Deadline = time.Second
	// MaxRunning bounds the calls of a [Caller] that run at the same time, so that a
	// function that never returns does not collect goroutines.
	MaxRunning = 64
)

// Caller calls one function of the host. Make it with [New]. It is safe for concurrent
// use.
type Caller struct {
	name   string
	logger *slog.Logger
	slots  chan struct{}
}

// New returns a caller of the function with that name, which the log shows.
func New(name string, logger *slog.Logger) *Caller {
	return &Caller{name: name, logger: logger, slots: make(chan struct{}, MaxRunning)}
}

// Ask returns the result of f, and false if f panics, does not return within [Deadline],
// or if [MaxRunning] earlier calls still run. f gets a copy of the request without its
// body; the context of the copy ends at the deadline.
func Ask[T any](c *Caller, r *http.Request, f func(*http.Request) T) (T, bool) {
	var none T
	select {
	case c.slots <- struct{}{}:
	default:
		c.logger.WarnContext(r.Context(), "host function skipped: too many calls of it still run", "function", c.name)
		return none, false
	}
	ctx, cancel := context.WithTimeout(r.Context(), Deadline)
	defer cancel()
	own := r.Clone(ctx)
	own.Body = http.NoBody
	results := make(chan T, 1)
	go func() {
		defer func() {
			if reason := recover(); reason != nil { // its value may be a secret: the log has the type
				c.logger.ErrorContext(ctx, "host function panicked", "function", c.name, "panic", fmt.Sprintf("%T", reason), "stack", string(debug.Stack()))
			}
			<-c.slots
			close(results)
		}()
		results <- f(own)
	}()
	select {
	case result, ok := <-results:
		return result, ok
	case <-ctx.Done():
		c.logger.WarnContext(r.Context(), "host function took too long", "function", c.name)
		return none, false
	}
}
