package client

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	attempts    = 3
	firstPause  = 500 * time.Millisecond
	longestWait = 2 * time.Minute // with a longer Retry-After the response is returned
)

// Retry sends a request up to three times. It waits as long as Retry-After says,
// or for a pause that doubles, and a random bit longer, so that clients that
// failed together do not come back together.
//
// What was refused unread (429), or is under way already (409 with Retry-After,
// under the same Idempotency-Key), is always repeated; after a 5xx or
// without a response only what MayRepeat. The last response is returned as it is.
type Retry struct {
	Base http.RoundTripper
	// MayRepeat reports whether doing it twice is as good as once; nil means
	// [IsRepeatable].
	MayRepeat func(r *http.Request) bool
}

// IsRepeatable reports whether a call of the API can be repeated: it reads, or it
// has an Idempotency-Key, under which the service does the work once.
func IsRepeatable(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead || r.Header.Get("Idempotency-Key") != ""
}

// TokenRetry returns a [Retry] for the token endpoint, where repeating never loses
// anything; the package comment explains why.
func TokenRetry(base http.RoundTripper) Retry {
	return Retry{Base: base, MayRepeat: func(*http.Request) bool { return true }}
}

// RoundTrip implements http.RoundTripper.
func (t Retry) RoundTrip(r *http.Request) (*http.Response, error) {
	for n := 1; ; n++ {
		again, err := fresh(r)
		if err != nil {
			return nil, err
		}
		res, err := t.Base.RoundTrip(again)
		if n == attempts || r.Context().Err() != nil || !t.isWorthIt(r, res, err) {
			return res, err
		}
		wait := pause(n, res)
		if wait > longestWait {
			return res, err
		}
		discard(res)
		if err := sleep(r.Context(), wait); err != nil {
			return nil, err
		}
	}
}

func (t Retry) isWorthIt(r *http.Request, res *http.Response, err error) bool {
	mayRepeat := t.MayRepeat
	if mayRepeat == nil {
		mayRepeat = IsRepeatable
	}
	switch {
	case r.Body != nil && r.GetBody == nil:
		return false // it can be read once
	case err != nil:
		return mayRepeat(r)
	case res.StatusCode == http.StatusTooManyRequests:
		return true
	case res.StatusCode == http.StatusConflict:
		return res.Header.Get("Retry-After") != ""
	}
	return res.StatusCode >= http.StatusInternalServerError && mayRepeat(r)
}

// pause after the nth attempt; res is nil when there was no response.
func pause(n int, res *http.Response) time.Duration {
	next := firstPause << (n - 1)
	if res != nil {
		if seconds, err := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 31); err == nil {
			return time.Duration(seconds)*time.Second + rand.N(next)
		}
	}
	return next + rand.N(next)
}

// discard reads the rest, so that the connection can be used again.
func discard(res *http.Response) {
	if res != nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxResponse))
		_ = res.Body.Close()
	}
}

// fresh returns the request again, with its body from the beginning.
func fresh(r *http.Request) (*http.Request, error) {
	again := r.Clone(r.Context())
	if r.GetBody == nil {
		return again, nil
	}
	body, err := r.GetBody()
	again.Body = body
	return again, err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
