package partnerkit_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// meteredRoutes answer in all ways that a body can be written in.
var meteredRoutes = []guard.Route{
	{Pattern: "GET /json", Scope: guard.AnyScope, Handler: func(w http.ResponseWriter, _ *http.Request) error {
		return apierror.WriteJSON(w, http.StatusOK, map[string]string{"some": "thing"})
	}},
	{Pattern: "GET /nothing", Scope: guard.AnyScope, Handler: func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}},
	{Pattern: "GET /stream", Scope: guard.AnyScope, Handler: func(w http.ResponseWriter, _ *http.Request) error {
		for range 3 {
			_, _ = io.Copy(w, strings.NewReader(strings.Repeat("piece ", 700)))
			_ = http.NewResponseController(w).Flush()
		}
		return nil
	}},
	{Pattern: "GET /panic", Scope: guard.AnyScope, Handler: func(http.ResponseWriter, *http.Request) error { panic("oh") }},
}

// AN-03: usage agrees with what a client has read, to the byte, over 10,000 mixed calls and a
// graceful restart of the node.
func TestMetering_AN03(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "metering.db")
	var calls, errors, bytes atomic.Int64
	var token, appID string
	requests := []string{"GET /json", "HEAD /json", "GET /nothing", "GET /stream", "GET /panic", "GET /elsewhere", "GET /json?a=b", "HEAD /stream"}
	run := func(t *testing.T, check func(*partnertest.Harness)) {
		store, err := sqlite.Open(t.Context(), sqlite.Config{Path: db})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		h := partnertest.New(t, func(c *partnerkit.Config) {
			c.Store, c.Routes = store, meteredRoutes
			c.Limits.PerBusiness, c.Limits.PerApp = ratelimit.PerMinute(4_000), ratelimit.PerMinute(100_000)
		})
		if token == "" {
			app := h.Connect(partnertest.ConnectOptions{})
			token, appID = app.AccessToken, app.ID
		}
		server := httptest.NewServer(h.API())
		defer server.Close()
		var working sync.WaitGroup
		for range 8 {
			working.Go(func() {
				for i := range 625 {
					method, path, _ := strings.Cut(requests[i%len(requests)], " ")
					r, _ := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
					r.Header.Set("Authorization", "Bearer "+token)
					response, err := server.Client().Do(r)
					if err != nil {
						t.Error(err)
						return
					}
					n, err := io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
					if err != nil {
						t.Error(err)
					}
					calls.Add(1)
					bytes.Add(n)
					if response.StatusCode >= 400 {
						errors.Add(1)
					}
				}
			})
		}
		working.Wait()
		server.Close() // every handler has returned
		check(h)
	}
	t.Run("the first process", func(t *testing.T) { run(t, func(*partnertest.Harness) {}) })
	t.Run("the second process", func(t *testing.T) {
		run(t, func(h *partnertest.Harness) {
			var used callstore.Usage
			now := h.Clock.Now()
			if err := h.Analytics().EachUsage(t.Context(), appID, now.AddDate(0, 0, -7), now, func(u callstore.Usage) error {
				used.Calls, used.Errors, used.Bytes = used.Calls+u.Calls, used.Errors+u.Errors, used.Bytes+u.Bytes
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if used.Calls != calls.Load() || used.Errors != errors.Load() || used.Bytes != bytes.Load() || used.Calls != 10_000 {
				t.Errorf("AN-03: counted are %d calls, %d errors and %d bytes; the client counted %d, %d and %d", used.Calls, used.Errors, used.Bytes, calls.Load(), errors.Load(), bytes.Load())
			}
		})
	})
}
