package apierror_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/muxes"
)

type shapeUnderTest struct {
	name  string
	adapt func(apierror.Writer, apierror.Handler) http.Handler
}

var bothShapes = []shapeUnderTest{
	{"standard", apierror.Writer.Standard},
	{"oauth", apierror.Writer.OAuth},
}

// ERR-02, OERR-04: header, body and log carry the same request id; the cause is
// in the log alone.
func TestRequestID_ERR02(t *testing.T) {
	t.Parallel()
	for _, shape := range bothShapes {
		t.Run(shape.name, func(t *testing.T) {
			t.Parallel()
			log := &logtest.Buffer{}
			h := shape.adapt(logTo(log), func(http.ResponseWriter, *http.Request) error {
				return fmt.Errorf("read events: %w", errors.New("connection refused"))
			})
			r := get()
			r.Header.Set("X-Request-Id", "req_chosenbytheclient22222222")
			first, second := serve(h, r), serve(h, r)
			id := first.Header.Get("X-Request-Id")
			if !regexp.MustCompile(`^req_[a-z2-7]{26}$`).MatchString(id) || id == second.Header.Get("X-Request-Id") {
				t.Errorf("request ids %q and %q", id, second.Header.Get("X-Request-Id"))
			}
			body, _ := io.ReadAll(first.Body)
			if !strings.Contains(string(body), id) || strings.Contains(string(body), "refused") {
				t.Errorf("body %s", body)
			}
			var line map[string]any
			if err := json.Unmarshal([]byte(strings.SplitN(log.String(), "\n", 2)[0]), &line); err != nil {
				t.Fatal(err)
			}
			delete(line, "time")
			want := map[string]any{
				"level": "ERROR", "msg": "request failed", "request_id": id, "method": "GET", "route": "",
				"err": "read events: connection refused",
			}
			if diff := cmp.Diff(want, line); diff != "" {
				t.Errorf("log line (-want +got):\n%s", diff)
			}
		})
	}
}

// ERR-02: a panic is a 500 in the right shape; TOK-09: its value is not logged,
// nor is anything of the request.
func TestPanic_ERR02_TOK09(t *testing.T) {
	t.Parallel()
	for _, shape := range bothShapes {
		t.Run(shape.name, func(t *testing.T) {
			t.Parallel()
			log := &logtest.Buffer{}
			h := shape.adapt(logTo(log), func(http.ResponseWriter, *http.Request) error {
				panic(errors.New("token hush"))
			})
			r := httptest.NewRequest(http.MethodPost, "/hush?code=hush", strings.NewReader("hush"))
			r.Header.Set("Authorization", "Bearer hush")
			response := serve(h, r)
			body, _ := io.ReadAll(response.Body)
			if response.StatusCode != 500 || !strings.Contains(string(body), response.Header.Get("X-Request-Id")) || strings.Contains(string(body), "hush") {
				t.Errorf("%d %s", response.StatusCode, body)
			}
			if strings.Contains(log.String(), "hush") {
				t.Errorf("the log holds a secret: %s", log)
			}
			for _, want := range []string{"*errors.errorString", "handler_test.go", response.Header.Get("X-Request-Id")} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log lacks %q: %s", want, log)
				}
			}
		})
	}
}

func TestRuntimePanicIsLoggedInWords(t *testing.T) {
	t.Parallel()
	log := &logtest.Buffer{}
	serve(logTo(log).Standard(func(http.ResponseWriter, *http.Request) error {
		none := map[string]map[string]int{}
		none["absent"]["a"] = 1
		return nil
	}), get())
	if !strings.Contains(log.String(), "assignment to entry in nil map") {
		t.Errorf("log %s", log)
	}
}

// A deliberate abort is net/http's business.
func TestAbortHandlerPasses(t *testing.T) {
	t.Parallel()
	log := &logtest.Buffer{}
	defer func() {
		if got := recover(); got != http.ErrAbortHandler {
			t.Errorf("recovered %v", got)
		}
		if log.String() != "" {
			t.Errorf("logged %s", log)
		}
	}()
	serve(logTo(log).Standard(func(http.ResponseWriter, *http.Request) error { panic(http.ErrAbortHandler) }), get())
}

// A begun response gets no second body, however it began.
func TestBegunResponse(t *testing.T) {
	t.Parallel()
	begin := map[string]func(http.ResponseWriter){
		"header":  func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) },
		"body":    func(w http.ResponseWriter) { _, _ = w.Write([]byte("half")) },
		"flusher": func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
		"controller": func(w http.ResponseWriter) {
			if err := http.NewResponseController(w).Flush(); err != nil {
				panic("flush: " + err.Error())
			}
		},
	}
	for name, start := range begin {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &logtest.Buffer{}
			server := httptest.NewServer(http.NewServeMux())
			defer server.Close()
			mux := server.Config.Handler.(*http.ServeMux)
			mux.Handle("GET /error", logTo(log).Standard(func(w http.ResponseWriter, _ *http.Request) error {
				start(w)
				return errors.New("late failure")
			}))
			mux.Handle("GET /panic", logTo(log).Standard(func(w http.ResponseWriter, _ *http.Request) error {
				start(w)
				panic("late panic")
			}))

			for _, path := range []string{"/error", "/panic"} {
				response, err := server.Client().Get(server.URL + path)
				if err != nil {
					continue // cut before the header
				}
				body, err := io.ReadAll(response.Body)
				response.Body.Close()
				if err == nil || strings.Contains(string(body), "statusCode") {
					t.Errorf("%s: the client cannot see that the answer is cut: %d %q", path, response.StatusCode, body)
				}
			}
			if !strings.Contains(log.String(), "late failure") || !strings.Contains(log.String(), "GET /error") {
				t.Errorf("log %s", log)
			}
			if !strings.Contains(log.String(), "panic with a value of type string") {
				t.Errorf("log %s", log)
			}
		})
	}
}

// An informational response does not count as begun, and a hijacked one does.
func TestInformationalAndHijacked(t *testing.T) {
	t.Parallel()
	log := &logtest.Buffer{}
	mux := http.NewServeMux()
	mux.Handle("GET /hints", logTo(log).Standard(func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusEarlyHints)
		return apierror.NotFound("invoice")
	}))
	mux.Handle("GET /hijack", logTo(log).Standard(func(w http.ResponseWriter, _ *http.Request) error {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return err
		}
		_ = conn.Close()
		return errors.New("after the hijack")
	}))
	server := httptest.NewServer(mux)
	defer server.Close()
	response, err := server.Client().Get(server.URL + "/hints")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 404 {
		t.Errorf("status %d", response.StatusCode)
	}
	if response, err := server.Client().Get(server.URL + "/hijack"); err == nil {
		response.Body.Close()
		t.Error("a hijacked connection was answered")
	}
	for begun := time.Now(); !strings.Contains(log.String(), "after the hijack"); time.Sleep(time.Millisecond) { // the connection ends first
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("log %s", log)
		}
	}
}

// The controller reaches what the wrapper does not know about.
func TestControllerReachesTheConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(apierror.Writer{}.Standard(func(w http.ResponseWriter, _ *http.Request) error {
		return http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute))
	}))
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		t.Errorf("status %d", response.StatusCode)
	}
}

// ERR-04: a disconnected client is not a server error, in any shape; a cancellation by the
// server is.
func TestGoneClientIsNoError(t *testing.T) {
	t.Parallel()
	gone, leave := context.WithCancel(context.Background())
	leave()
	stopped, stop := context.WithCancelCause(context.Background())
	stop(errors.New("the host stops"))
	tests := []struct {
		name   string
		ctx    context.Context
		err    error
		status int
		level  string
	}{
		{"ERR-04 gone", gone, fmt.Errorf("query: %w", context.Canceled), 400, "DEBUG"},
		{"ERR-04 gone, an internal error", gone, apierror.Internal(context.Canceled), 400, "DEBUG"},
		{"ERR-04 gone, unavailable", gone, apierror.Unavailable(context.Canceled), 400, "DEBUG"},
		{"gone, other fault", gone, errors.New("disk full"), 500, "ERROR"},
		{"still there", context.Background(), context.Canceled, 500, "ERROR"},
		{"the host ended it", stopped, context.Canceled, 500, "ERROR"},
		{"deadline", gone, context.DeadlineExceeded, 500, "ERROR"},
	}
	shapes := map[string]func(apierror.Writer, apierror.Handler) http.Handler{
		"standard": apierror.Writer.Standard, "OAuth": apierror.Writer.OAuth,
		"page": func(c apierror.Writer, h apierror.Handler) http.Handler {
			return c.Page(func(w http.ResponseWriter, _ *http.Request, f apierror.Failure) error {
				_, err := io.WriteString(w, f.Message)
				return err
			}, h)
		},
	}
	for _, test := range tests {
		for shape, adapt := range shapes {
			t.Run(test.name+", "+shape, func(t *testing.T) {
				t.Parallel()
				log, w := &logtest.Buffer{}, httptest.NewRecorder()
				adapt(logTo(log), func(http.ResponseWriter, *http.Request) error { return test.err }).ServeHTTP(w, get().WithContext(test.ctx))
				if w.Code != test.status || !strings.Contains(log.String(), `"level":"`+test.level+`"`) || strings.Count(log.String(), "\n") != 1 {
					t.Errorf("%d %s %s", w.Code, w.Body, log)
				}
				if shape == "OAuth" && test.status == 400 && !strings.Contains(w.Body.String(), `"invalid_request"`) {
					t.Errorf("%s", w.Body)
				}
			})
		}
	}
}

// Failures of the client are not logged, and headers meant for the response that
// was not given are gone.
func TestClientErrorIsQuietAndClean(t *testing.T) {
	t.Parallel()
	log := &logtest.Buffer{}
	response := serve(logTo(log).Standard(func(w http.ResponseWriter, _ *http.Request) error {
		h := w.Header()
		h.Set("Content-Length", "1000")
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Type", "text/html")
		h.Set("Etag", `"1"`)
		h.Set("Location", "/invoices/1")
		h.Set("Cache-Control", "max-age=60")
		h.Set("RateLimit-Limit", "300")
		return codes.EventNotFound.New("evt_1")
	}), get())
	want := http.Header{
		"Cache-Control": {"no-store"}, "Pragma": {"no-cache"}, "Content-Type": {"application/json"},
		"X-Content-Type-Options": {"nosniff"}, "Ratelimit-Limit": {"300"},
	}
	if diff := cmp.Diff(want, response.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if log.String() != "" {
		t.Errorf("logged %s", log)
	}
}

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	h := apierror.Writer{}.Standard(func(w http.ResponseWriter, r *http.Request) error {
		if r.URL.Path == "/bad" {
			return apierror.WriteJSON(w, http.StatusOK, math.NaN())
		}
		return apierror.WriteJSON(w, http.StatusCreated, map[string]string{"url": "https://a/?b&c=<d>"})
	})
	response := serve(h, get())
	body, _ := io.ReadAll(response.Body)
	if got, want := string(body), `{"url":"https://a/?b&c=<d>"}`; got != want || response.StatusCode != 201 || response.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, got)
	}
	if response := serve(h, httptest.NewRequest(http.MethodGet, "/bad", nil)); response.StatusCode != 500 {
		t.Errorf("what cannot be encoded: %d", response.StatusCode)
	}
}

// ERR-02, OERR-02: unknown paths and methods have the shape too.
func TestMux_ERR02_OERR02(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("GET /invoices/{id}", apierror.Writer{}.Standard(func(w http.ResponseWriter, r *http.Request) error {
		return apierror.WriteJSON(w, 200, r.PathValue("id"))
	}))
	mux.HandleFunc("POST /oauth/token", func(http.ResponseWriter, *http.Request) {})
	var all strings.Builder
	for _, target := range []string{"GET /invoices/7", "DELETE /invoices/7", "GET /nothing", "GET /oauth/token"} {
		method, path, _ := strings.Cut(target, " ")
		for name, h := range map[string]http.Handler{"standard": muxes.WithErrors(mux, apierror.Writer{}.WriteStandard), "oauth": muxes.WithErrors(mux, apierror.Writer{}.WriteOAuth)} {
			if strings.HasPrefix(path, "/oauth") != (name == "oauth") {
				continue
			}
			fmt.Fprintf(&all, "# %s\n%s\n", target, dump(t, serve(h, httptest.NewRequest(method, path, nil))))
		}
	}
	wantGolden(t, "mux", all.String())
	if response := serve(muxes.WithErrors(mux, apierror.Writer{}.WriteStandard), httptest.NewRequest(http.MethodGet, "/a/../invoices/7", nil)); response.StatusCode/100 != 3 {
		t.Errorf("a path that is not clean: %d", response.StatusCode)
	}
}
