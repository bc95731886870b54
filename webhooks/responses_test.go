package webhooks_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/webhooks"
)

// DLV-01, DLV-02: a 2xx whose headers are in within 10 seconds is a success, and
// nothing else is. DLV-09: what came back is kept.
func TestResponses(t *testing.T) {
	t.Parallel()
	hijack := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	}
	pause := func(d time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(d)
			w.WriteHeader(http.StatusOK)
		}
	}
	for name, test := range map[string]struct {
		handler   http.HandlerFunc
		code      int
		lastError string
	}{
		"200":                    {response(200), 200, ""},
		"201":                    {response(201), 201, ""},
		"299":                    {response(299), 299, ""},
		"300":                    {response(300), 300, "answered with status 300"},
		"301":                    {redirect(301), 301, "answered with status 301"},
		"307":                    {redirect(307), 307, "answered with status 307"},
		"304":                    {response(304), 304, "answered with status 304"},
		"400":                    {response(400), 400, "answered with status 400"},
		"410":                    {response(410), 410, "answered with status 410"},
		"503":                    {response(503), 503, "answered with status 503"},
		"just in time":           {pause(webhooks.AttemptTimeout - time.Millisecond), 200, ""},
		"too late":               {pause(webhooks.AttemptTimeout + time.Millisecond), 0, "timed out"},
		"never":                  {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, "timed out"},
		"cut":                    {hijack(""), 0, "invalid response"},
		"not HTTP":               {hijack("220 smtp.example ESMTP\r\n"), 0, "invalid response"},
		"switched protocols":     {hijack("HTTP/1.1 101 Switching Protocols\r\n\r\n"), 0, "invalid response"},
		"a 2xx with a cut body":  {hijack("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"), 200, ""},
		"a 2xx with no end":      {endless, 200, ""},
		"a 500 with a long body": {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500); endless(w, r) }, 500, "answered with status 500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *harness) {
				a := r.app(endpoint, "invoice.created")
				r.net.handle(endpoint, test.handler)
				r.record(a.business, "invoice.created")
				r.settle()
				time.Sleep(webhooks.AttemptTimeout + time.Second)
				d, attempts := r.only(a)
				status := webhooks.Retrying
				if test.lastError == "" {
					status = webhooks.Delivered
				}
				if d.Status != status || d.ResponseCode != test.code || d.LastError != test.lastError || d.Attempts != 1 || len(attempts) != 1 {
					t.Fatalf("%+v", d)
				}
				got := attempts[0]
				if got.ResponseCode != test.code || got.Error != test.lastError || got.Number != 1 || got.Duration > webhooks.AttemptTimeout || len(got.ResponseBody) > 1<<10 {
					t.Errorf("attempt %+v", got)
				}
				if strings.Contains(name, "no end") && !bytes.Equal(got.ResponseBody, bytes.Repeat([]byte{'x'}, 1<<10)) {
					t.Errorf("the first KiB of the answer is not kept: %q", got.ResponseBody)
				}
				if posts := r.net.posts("127.0.0.9"); len(posts) != 0 {
					t.Error("a redirect was followed")
				}
			})
		})
	}
}

func redirect(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://127.0.0.9/elsewhere")
		w.WriteHeader(status)
	}
}

// endless writes until the reader closes the connection.
func endless(w http.ResponseWriter, _ *http.Request) {
	for chunk := bytes.Repeat([]byte{'x'}, 4096); ; {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}
