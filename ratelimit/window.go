package ratelimit

import (
	"encoding/binary"
	"time"
)

// Window returns the number of the window that now falls into and when that
// window ends, in Unix milliseconds. Equal counters have equal windows on every
// node. The counter must be valid.
func (c Counter) Window(now time.Time) (number, ends int64) {
	return c.window(now.UnixMilli())
}

func (c *Counter) window(ms int64) (number, ends int64) {
	length := c.Limit.Window.Milliseconds()
	phase := int64(binary.BigEndian.Uint64(c.Key[:8]) % uint64(length))
	number = floorDiv(ms+phase, length)
	return number, (number+1)*length - phase
}

// floorDiv rounds down also before 1970, where Go's division rounds up.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
