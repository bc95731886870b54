package hostcall_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/internal/hostcall"
)

func logged() (*slog.Logger, *bytes.Buffer) {
	var log bytes.Buffer
	return slog.New(slog.NewTextHandler(&log, nil)), &log
}

func TestAsk(t *testing.T) {
	t.Parallel()
	logger, log := logged()
	caller := hostcall.New("Config.F", logger)
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("the form"))
	got, ok := hostcall.Ask(caller, r, func(own *http.Request) string {
		body, _ := io.ReadAll(own.Body)
		own.Header.Set("X-Changed", "1")
		return own.URL.Path + string(body)
	})
	if rest, _ := io.ReadAll(r.Body); !ok || got != "/" || string(rest) != "the form" || r.Header.Get("X-Changed") != "" {
		t.Errorf("%q %t, body %q, header %v", got, ok, rest, r.Header)
	}

	for name, f := range map[string]func(*http.Request) string{
		"panic":  func(*http.Request) string { panic("no language today") },
		"goexit": func(*http.Request) string { runtime.Goexit(); return "" },
	} {
		if got, ok := hostcall.Ask(caller, r, f); ok || got != "" {
			t.Errorf("%s: %q %t", name, got, ok)
		}
	}
	if text := log.String(); strings.Contains(text, "no language today") || !strings.Contains(text, "panic=string") || !strings.Contains(text, "Config.F") {
		t.Errorf("log %q", text)
	}
}

// A function that blocks costs a page one second, and only a bounded number of pages.
func TestAskBlocked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		logger, log := logged()
		caller := hostcall.New("Config.F", logger)
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		release := make(chan struct{})
		forever := func(*http.Request) bool { <-release; return true }
		for range hostcall.MaxRunning {
			start := time.Now()
			if _, ok := hostcall.Ask(caller, r, forever); ok || time.Since(start) != hostcall.Deadline {
				t.Fatalf("%t after %v", ok, time.Since(start))
			}
		}
		start := time.Now()
		if _, ok := hostcall.Ask(caller, r, forever); ok || time.Since(start) != 0 {
			t.Errorf("with all slots taken: %t after %v", ok, time.Since(start))
		}
		close(release)
		synctest.Wait()
		if got, ok := hostcall.Ask(caller, r, forever); !ok || !got {
			t.Error("the slots are not free again")
		}
		if text := log.String(); !strings.Contains(text, "took too long") || !strings.Contains(text, "skipped") {
			t.Errorf("log %q", text)
		}
	})
}

// A function that respects its context ends with the deadline, and with the request.
func TestAskContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		logger, _ := logged()
		caller := hostcall.New("Config.F", logger)
		polite := func(own *http.Request) error { <-own.Context().Done(); return own.Context().Err() }
		if _, ok := hostcall.Ask(caller, httptest.NewRequest(http.MethodGet, "/", nil), polite); ok {
			t.Error("a result after the deadline")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		hostcall.Ask(caller, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil), polite)
		synctest.Wait()
	})
}
