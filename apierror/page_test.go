package apierror_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/muxes"
)

// showText is a page of one line.
func showText(w http.ResponseWriter, _ *http.Request, f apierror.Failure) error {
	_, err := fmt.Fprintf(w, "%d %s", f.Status, f.Message)
	return err
}

// A failure becomes a page with its status, its texts and the headers of any other
// error; the page of an internal error shows the request id and nothing else.
func TestPage_ERR02(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error
		status int
		body   string
		header map[string]string
	}{
		"invalid":   {apierror.Invalid("a", "b"), 400, "400 a; b", nil},
		"forbidden": {fmt.Errorf("wrapped: %w", apierror.Forbidden("no")), 403, "403 no", nil},
		"too many":  {apierror.TooManyRequests(7 * time.Second), 429, "429 too many requests, retry after 7 seconds", map[string]string{"Retry-After": "7"}},
		"method":    {apierror.MethodNotAllowed("GET"), 405, "405 this path takes GET", map[string]string{"Allow": "GET"}},
		"fault":     {errors.New("dsn=hidden"), 500, "500 something went wrong on our side; the request id is REQ", nil},
		"busy":      {apierror.Unavailable(errors.New("dsn=hidden")), 503, "503 something went wrong on our side; the request id is REQ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log logtest.Buffer
			response := serve(logTo(&log).Page(showText, func(w http.ResponseWriter, _ *http.Request) error {
				w.Header().Set("Location", "/elsewhere")
				return test.err
			}), get())
			body, _ := io.ReadAll(response.Body)
			id := response.Header.Get("X-Request-Id")
			if got := strings.ReplaceAll(string(body), id, "REQ"); response.StatusCode != test.status || id != "" && got != test.body || id == "" && string(body) != test.body {
				t.Errorf("%d %q, want %d %q", response.StatusCode, body, test.status, test.body)
			}
			if response.Header.Get("Cache-Control") != "no-store" || response.Header.Get("Location") != "" || response.Header.Get("WWW-Authenticate") != "" {
				t.Errorf("header %v", response.Header)
			}
			for key, want := range test.header {
				if got := response.Header.Get(key); got != want {
					t.Errorf("%s %q, want %q", key, got, want)
				}
			}
			if logged := log.String(); (test.status >= 500) != strings.Contains(logged, "dsn=hidden") || test.status >= 500 && !strings.Contains(logged, id) {
				t.Errorf("log %q", logged)
			}
		})
	}
}

// A page sees the error as it was returned; when it fails itself, the log says so.
func TestPageShows(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	var log logtest.Buffer
	response := serve(logTo(&log).Page(func(_ http.ResponseWriter, _ *http.Request, f apierror.Failure) error {
		if !errors.Is(f.Err, cause) {
			t.Errorf("got %v", f.Err)
		}
		return errors.New("no ink")
	}, func(http.ResponseWriter, *http.Request) error { return apierror.Invalid("x").WithCause(cause) }), get())
	if response.StatusCode != 400 || !strings.Contains(log.String(), "no ink") {
		t.Errorf("%d, log %q", response.StatusCode, log.String())
	}
	response = serve(logTo(&log).Page(showText, func(http.ResponseWriter, *http.Request) error { panic("x") }), get())
	if response.StatusCode != 500 {
		t.Errorf("panic: %d", response.StatusCode)
	}
}

// Paths and methods that a mux does not know are pages.
func TestPageMux_ERR02(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /a", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a") })
	h := muxes.WithErrors(mux, func(w http.ResponseWriter, r *http.Request, err error) {
		apierror.Writer{}.WritePage(w, r, err, showText)
	})
	for request, want := range map[string]string{
		"GET /a": "a", "GET /b": "404 no such endpoint", "POST /a": "405 this path takes GET, HEAD",
	} {
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Body.String() != want {
			t.Errorf("%s: %q, want %q", request, w.Body.String(), want)
		}
	}
}
