package client_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

// FuzzRetryAfter: the client waits at least as long as Retry-After demands. A value that is
// not a number of seconds causes a short pause (CLI-01).
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "0", "1", "120", "121", "-1", "+5", "1.5", "1e3", "99999999999999999999", " 7", "0x10", "Tue, 01 Sep 2026 12:00:00 GMT", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		res := &http.Response{Header: http.Header{"Retry-After": {header}}}
		for n := 1; n <= 3; n++ {
			got := client.Pause(n, res)
			seconds, err := strconv.ParseInt(header, 10, 32)
			switch {
			case got < 0 || got > time.Duration(1<<31)*time.Second+client.LongestWait:
				t.Fatalf("%q: %v", header, got)
			case err == nil && seconds >= 0 && header[0] != '+' && got < time.Duration(seconds)*time.Second:
				t.Fatalf("%q: %v is too early", header, got)
			case err != nil && got > 10*time.Second && len(header) < 10:
				t.Fatalf("%q: %v", header, got)
			}
		}
	})
}

// FuzzParseError: a proxy may respond with any body; the error still has the status.
func FuzzParseError(f *testing.F) {
	for _, seed := range []string{`{"statusCode":400,"message":["a","b"],"error":"Bad Request"}`, `{"message":"a","code":"B"}`, `{"message":{}}`, `{"message":[1]}`, `<html>`, ``, `null`, `{"code":1}`} {
		f.Add(400, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, text []byte) {
		e := client.ParseError(status, text)
		if e == nil || e.Status != status || e.Error() == "" {
			t.Fatalf("%q: %+v", text, e)
		}
	})
}
