package listener

import (
	"context"
	"sync/atomic"
	"time"
)

// platformClock returns the time of the service, which its signatures contain. In
// development mode it differs from ours: developers move it to see what happens later.
type platformClock struct {
	console *console
	ahead   atomic.Int64 // of our time, when the service was last asked
}

// now asks the service each time; when it does not respond, what it said last counts.
func (c *platformClock) now() time.Time {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout/2)
	defer cancel()
	if theirs, err := c.console.now(ctx); err == nil {
		c.ahead.Store(int64(time.Until(theirs)))
	}
	return time.Now().Add(time.Duration(c.ahead.Load()))
}
