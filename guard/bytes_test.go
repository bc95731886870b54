package guard_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// AN-03: the bytes of a call are those that its client reads from the body of the response.
func TestBytes_AN03(t *testing.T) {
	t.Parallel()
	k := newAPI(t, func(c *guard.Config) { c.Limits.PerBusiness = ratelimit.PerMinute(100) })
	long := strings.Repeat("0123456789abcdef", 10_000)
	open := func(pattern string, handle func(w http.ResponseWriter, r *http.Request) error) {
		if err := k.surface.Handle(guard.Route{Pattern: pattern, Scope: guard.AnyScope, Handler: handle}); err != nil {
			t.Fatal(err)
		}
	}
	open("GET /empty", func(http.ResponseWriter, *http.Request) error { return nil })
	open("GET /no-content", func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusNoContent)
		_, _ = w.Write([]byte("which net/http refuses"))
		return nil
	})
	open("GET /not-modified", func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusNotModified)
		_, _ = w.Write([]byte("which net/http refuses"))
		return nil
	})
	open("GET /pieces", func(w http.ResponseWriter, _ *http.Request) error {
		for range 3 {
			_, _ = io.WriteString(w, "piece")
			_ = http.NewResponseController(w).Flush()
		}
		w.(http.Flusher).Flush()
		return nil
	})
	open("GET /copied", func(w http.ResponseWriter, _ *http.Request) error {
		_, err := io.Copy(w, strings.NewReader(long)) // by WriteTo
		if err == nil {
			_, err = io.Copy(w, io.LimitReader(strings.NewReader(long), 5_000)) // by ReadFrom, where there is one
		}
		return err
	})
	open("GET /file", func(w http.ResponseWriter, r *http.Request) error {
		http.ServeContent(w, r, "file.txt", k.Clock.Now(), strings.NewReader(long))
		return nil
	})
	open("GET /too-long", func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Length", "5")
		_, _ = w.Write([]byte("12345"))
		_, _ = w.Write([]byte("which net/http refuses"))
		return nil
	})
	open("GET /early-hints", func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusEarlyHints)
		_, err := w.Write([]byte("body"))
		return err
	})
	open("POST /written", func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusCreated)
		_, err := w.Write([]byte("written"))
		return err
	})
	server := httptest.NewServer(k.API)
	defer server.Close()
	token := k.token()
	for _, test := range []struct {
		name, call string
		header     http.Header
		status     int
		least      int // bytes
	}{
		{"JSON", "GET /invoices", nil, 200, 50},
		{"HEAD", "HEAD /invoices", nil, 200, 0},
		{"HEAD of a file", "HEAD /file", nil, 200, 0},
		{"HEAD of an error", "HEAD /broken", nil, 500, 0},
		{"nothing", "GET /empty", nil, 200, 0},
		{"204", "GET /no-content", nil, 204, 0},
		{"304", "GET /not-modified", nil, 304, 0},
		{"Flush", "GET /pieces", nil, 200, 15},
		{"ReadFrom", "GET /copied", nil, 200, len(long) + 5_000},
		{"a file", "GET /file", nil, 200, len(long)},
		{"a range", "GET /file", http.Header{"Range": {"bytes=10-29"}}, 206, 20},
		{"more than declared", "GET /too-long", nil, 200, 5},
		{"103", "GET /early-hints", nil, 200, 4},
		{"a write", "POST /written", http.Header{"Idempotency-Key": {"one"}}, 201, 7},
		{"a write that is repeated", "POST /written", http.Header{"Idempotency-Key": {"one"}}, 201, 7},
		{"a panic", "GET /panic", nil, 500, 50},
		{"an error", "GET /broken", nil, 500, 50},
		{"404", "GET /invoices/inv_9", nil, 404, 50},
		{"no such endpoint", "GET /nowhere", nil, 403, 50},
	} {
		t.Run("AN-03_"+strings.ReplaceAll(test.name, " ", "_"), func(t *testing.T) {
			status, read := k.read(t, server.URL, test.call, token, test.header)
			last := k.calls.last()
			if status != test.status || read < test.least || last.Status != status || last.Bytes != int64(read) {
				t.Errorf("the client read a %d of %d bytes; counted are a %d of %d bytes", status, read, last.Status, last.Bytes)
			}
		})
	}
	t.Run("AN-03_429", func(t *testing.T) {
		for range 100 {
			status, read := k.read(t, server.URL, "GET /invoices", token, nil)
			if last := k.calls.last(); status == http.StatusTooManyRequests {
				if read < 50 || last.Bytes != int64(read) || !last.RateLimited {
					t.Errorf("the client read %d bytes, counted are %d", read, last.Bytes)
				}
				return
			}
		}
		t.Error("no call was refused")
	})
	t.Run("AN-03_a_response_that_is_cut_off", func(t *testing.T) {
		// The handler has flushed what it wrote, so that it has reached the client.
		cut := newAPI(t)
		err := cut.surface.Handle(guard.Route{Pattern: "GET /cut", Scope: guard.AnyScope, Handler: func(w http.ResponseWriter, _ *http.Request) error {
			_, _ = w.Write([]byte("half of"))
			_ = http.NewResponseController(w).Flush()
			return errors.New("the rest is missing")
		}})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(cut.API)
		defer server.Close()
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/cut", nil)
		r.Header.Set("Authorization", "Bearer "+cut.token())
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		server.Close() // waits for the handler
		if last := cut.calls.last(); err == nil || last.Bytes != int64(len(body)) || last.Status != http.StatusInternalServerError {
			t.Errorf("the client read %q and %v; counted is a %d of %d bytes", body, err, last.Status, last.Bytes)
		}
	})
}

// read makes a call over a connection and returns the status and how long the body was.
func (k *api) read(t *testing.T, origin, call, token string, header http.Header) (status, length int) {
	t.Helper()
	method, path, _ := strings.Cut(call, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, origin+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("Authorization", "Bearer "+token)
	told := k.calls.count()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for k.calls.count() == told && t.Context().Err() == nil { // the body arrives before the handler has returned
		time.Sleep(time.Millisecond)
	}
	return response.StatusCode, len(body)
}
