package ratelimit

import (
	"net/http"
	"strconv"
	"time"
)

// RetryAfter is the Wait in whole seconds, rounded up: at least 1 for a
// refusal, 0 when the request is allowed.
func (r Result) RetryAfter() int {
	if r.Allowed {
		return 0
	}
	return max(1, seconds(r.Wait))
}

// WriteHeader sets Retry-After (RFC 9110, section 10.2.3) when the request was
// refused, and nothing otherwise.
func (r Result) WriteHeader(h http.Header) {
	if !r.Allowed {
		h.Set("Retry-After", strconv.Itoa(r.RetryAfter()))
	}
}

// WriteHeader sets RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset, the
// last in seconds, rounded up. A zero Quota sets nothing.
func (q Quota) WriteHeader(h http.Header) {
	if q.Limit == 0 {
		return
	}
	h.Set("RateLimit-Limit", strconv.Itoa(q.Limit))
	h.Set("RateLimit-Remaining", strconv.Itoa(q.Remaining))
	h.Set("RateLimit-Reset", strconv.Itoa(seconds(q.Reset)))
}

func seconds(d time.Duration) int {
	return int((d + time.Second - 1) / time.Second)
}
