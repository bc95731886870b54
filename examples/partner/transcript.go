package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// transcript writes to standard output: a line for every request, without its
// query, which may hold a code.
type transcript struct {
	base http.RoundTripper
	mu   sync.Mutex
	out  io.Writer
	err  error
}

// failed is the first error of writing.
func (t *transcript) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

func (t *transcript) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := fmt.Fprintf(t.out, format+"\n", args...); err != nil && t.err == nil {
		t.err = err
	}
}

func (t *transcript) line(who, method, path string, status int, more string) {
	t.say("%s", strings.TrimRight(fmt.Sprintf("   %-8s %-7s%-42s %d  %s", who, method, path, status, more), " "))
}

// by returns a transport that records its requests under the name who.
func (t *transcript) by(who string) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		res, err := t.base.RoundTrip(r)
		if err != nil {
			t.say("   %-8s %-7s%-42s no answer: %v", who, r.Method, r.URL.Path, err)
			return nil, err
		}
		more := ""
		if left := res.Header.Get("RateLimit-Remaining"); left != "" {
			more = left + " of " + res.Header.Get("RateLimit-Limit") + " left"
		}
		if after := res.Header.Get("Retry-After"); after != "" {
			more += " retry after " + after + " s"
		}
		t.line(who, r.Method, r.URL.Path, res.StatusCode, more)
		return res, nil
	})
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
