package ratelimit

import (
	"net/http"
	"strconv"
	"time"
)

// RetryAfter returns the Wait in whole seconds, rounded up: at least 1 for a
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
	// By their canonical names, one allocation for the three: every response of the
	// API has them.
	values := []string{strconv.Itoa(q.Limit), strconv.Itoa(q.Remaining), strconv.Itoa(seconds(q.Reset))}
	h["Ratelimit-Limit"] = values[0:1:1]
	h["Ratelimit-Remaining"] = values[1:2:2]
	h["Ratelimit-Reset"] = values[2:3:3]
}

func seconds(d time.Duration) int {
	return int((d + time.Second - 1) / time.Second)
}
