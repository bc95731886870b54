package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A service that is away, or has enough of us, is asked less often; what cannot get
// better ends the flow.
func TestWaitAfter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err      error
		interval int
		want     int // 0: it ends
	}{
		"no answer":                 {io.ErrUnexpectedEOF, 5, 10},
		"still none":                {io.ErrUnexpectedEOF, 40, 60},
		"none, and it was slow":     {io.ErrUnexpectedEOF, 90, 90},
		"broken":                    {&refusal{Status: 503, Code: "server_error"}, 5, 10},
		"limited":                   {&refusal{Status: 429, RetryAfter: 42 * time.Second}, 5, 42},
		"limited, it does not say":  {&refusal{Status: 429}, 5, 10},
		"pending":                   {&refusal{Status: 400, Code: "authorization_pending"}, 7, 7},
		"too fast":                  {&refusal{Status: 400, Code: "slow_down"}, 7, 12},
		"denied":                    {&refusal{Status: 400, Code: "access_denied"}, 5, 0},
		"expired":                   {&refusal{Status: 400, Code: "expired_token"}, 5, 0},
		"dead":                      {&refusal{Status: 400, Code: "invalid_grant"}, 5, 0},
		"something that is not 2xx": {&refusal{Status: 302}, 5, 0},
	} {
		got, err := waitAfter(t.Context(), test.err, test.interval)
		if got != test.want || (err != nil) != (test.want == 0) {
			t.Errorf("%s: %d, %v, want %d", name, got, err, test.want)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := waitAfter(stopped, io.ErrUnexpectedEOF, 5); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// What a service responds may be anything.
func TestHostileService(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ response, says string }{
		"somebody else":     {`{"issuer": "https://elsewhere.example"}`, "says that it is https://elsewhere.example"},
		"steers a terminal": {`{"issuer": "https://\u001b]0;x\u0007\u202e"}`, "says that it is https://�]0;x��"},
		"no JSON":           {`<html>`, "not readable"},
		"endless":           {`"` + strings.Repeat("x", 2*maxResponse), "not readable"},
		"no code":           {`{"issuer": "SELF", "device_authorization_endpoint": "SELF"}`, "the answer lacks device_code"},
		"no pause":          {`{"issuer": "SELF", "device_authorization_endpoint": "SELF", "device_code": "d", "user_code": "u", "verification_uri": "v", "expires_in": 600, "interval": -1}`, "nobody can wait -1 seconds"},
		"forever":           {`{"issuer": "SELF", "device_authorization_endpoint": "SELF", "device_code": "d", "user_code": "u", "verification_uri": "v", "expires_in": 9223372036854775807}`, "nobody can wait 5 seconds between polls, 9223372036854775807 in all"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, strings.ReplaceAll(test.response, "SELF", "http://"+r.Host))
			}))
			defer server.Close()
			err := run(t.Context(), []string{"-api", server.URL}, environment{func(string) string { return "" }, io.Discard, io.Discard, http.DefaultTransport, wait})
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-nothing"}, {"now"}, {"-api", "localhost:8080"}, {"-api", "ftp://localhost"}, {"-api", "%"}, {"-client-id", ""}} {
		if err := run(t.Context(), args, environment{func(string) string { return "" }, io.Discard, io.Discard, http.DefaultTransport, wait}); !errors.Is(err, errUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
