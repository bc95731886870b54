package sandbox

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A stop waits for requests that are under way.
func TestStopLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	under, goOn := make(chan struct{}), make(chan struct{})
	slow := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(under)
		<-goOn
		_, _ = io.WriteString(w, "done")
	})
	e, err := listen(ctx, "-api", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, err := e.url("")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		_, err := serve(ctx, serveTimeouts, site{Server: newHTTPServer(slow, serveTimeouts, discard()), endpoint: e})
		served <- err
	}()
	responded := make(chan string, 1)
	go func() {
		body := ""
		if res, err := http.Get(address); err == nil { //nolint:noctx // it ends with the server
			text, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			body = string(text)
		}
		responded <- body
	}()
	<-under
	cancel()
	close(goOn)
	if a := <-responded; a != "done" {
		t.Errorf("answer %q", a)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A client that does not get on with its request is cut off.
func TestSlowClientIsCutOff(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	short := timeouts{header: 50 * time.Millisecond, read: 50 * time.Millisecond, write: time.Second, idle: time.Second, shutdown: time.Second}
	reads := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	e, err := listen(ctx, "-api", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		_, err := serve(ctx, short, site{Server: newHTTPServer(reads, short, discard()), endpoint: e})
		served <- err
	}()
	for name, beginning := range map[string]string{
		"half a header": "GET / HTTP/1.1\r\nHost: x\r\n",
		"half a body":   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
	} {
		conn, err := net.Dial("tcp", e.sockets[0].Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, beginning); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: %v", name, err)
		}
		conn.Close()
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if serveTimeouts.header == 0 || serveTimeouts.read == 0 || serveTimeouts.write == 0 || serveTimeouts.idle == 0 {
		t.Error("a timeout is missing")
	}
}

func TestSecured(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{"http://localhost:8080": "", "https://api.example.com": "max-age=31536000"} {
		w := httptest.NewRecorder()
		secured(url, http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		if got := w.Header().Get("Strict-Transport-Security"); got != want || w.Code != http.StatusNotFound {
			t.Errorf("%s: %d, %q", url, w.Code, got)
		}
	}
}
