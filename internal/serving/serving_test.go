package serving_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/serving"
)

var discard = slog.New(slog.DiscardHandler)

// untilEnd is work that ends with its context.
func untilEnd(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// listen returns a site on a free port, and its address.
func listen(t *testing.T, s *http.Server) (site serving.Site, address string) {
	t.Helper()
	s.Addr = "127.0.0.1:0"
	sites, err := serving.Listen(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return sites[0], sites[0].Sockets[0].Addr().String()
}

// start runs the site until the returned function is called, which returns Run's error.
func start(t *testing.T, work func(context.Context) error, site serving.Site) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serving.Run(ctx, discard, work, site) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// A connection that the server has accepted gets its response. The kernel resets those that it
// has not.
func TestStopDropsNoRequest(t *testing.T) {
	t.Parallel()
	var accepted, responded atomic.Int64
	site, address := listen(t, &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") }),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				accepted.Add(1)
			}
		},
	})
	stop := start(t, untilEnd, site)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() { // a connection for each request, until none is accepted
			for {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					return
				}
				_, _ = fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
				if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
					responded.Add(1)
					_ = res.Body.Close()
				}
				_ = conn.Close()
			}
		})
	}
	for responded.Load() < 200 {
		time.Sleep(time.Millisecond)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	clients.Wait()
	if accepted.Load() != responded.Load() {
		t.Errorf("%d connections were accepted, %d got a response", accepted.Load(), responded.Load())
	}
}

// The work ends after the last request.
func TestStopInOrder(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var order []string
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, what)
	}
	arrived, finish := make(chan struct{}), make(chan struct{})
	site, address := listen(t, &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(arrived)
		<-finish
		note("request")
	})})
	stop := start(t, func(ctx context.Context) error {
		<-ctx.Done()
		note("work")
		return nil
	}, site)
	responded := make(chan error, 1)
	go func() {
		res, err := http.Get("http://" + address)
		if err == nil {
			err = res.Body.Close()
		}
		responded <- err
	}()
	<-arrived
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	for { // once the socket is closed, the server is stopping
		conn, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		_ = conn.Close()
	}
	close(finish)
	if err := errors.Join(<-responded, <-stopped); err != nil {
		t.Error(err)
	}
	if got := strings.Join(order, ", "); got != "request, work" {
		t.Errorf("ended in the order %s", got)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestRunFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	t.Run("work", func(t *testing.T) {
		t.Parallel()
		site, _ := listen(t, &http.Server{Handler: http.NotFoundHandler()})
		if err := serving.Run(t.Context(), discard, func(context.Context) error { return broken }, site); !errors.Is(err, broken) {
			t.Error(err)
		}
	})
	t.Run("socket", func(t *testing.T) {
		t.Parallel()
		site := serving.Site{Server: &http.Server{Handler: http.NotFoundHandler()}, Sockets: []net.Listener{deadListener{broken}}}
		if err := serving.Run(t.Context(), discard, untilEnd, site); !errors.Is(err, broken) {
			t.Error(err)
		}
	})
}

// The second socket of a server speaks what the first one speaks: net/http has given the server
// a TLSConfig by then.
func TestTwoSockets(t *testing.T) {
	t.Parallel()
	for range 20 { // the sockets are served in any order
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") })}
		site, first := listen(t, s)
		other, second := listen(t, &http.Server{Handler: s.Handler})
		site.Sockets = append(site.Sockets, other.Sockets...)
		stop := start(t, untilEnd, site)
		for _, address := range []string{first, second} {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
			if all, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(all), "done") {
				t.Errorf("%v, %q", err, all)
			}
			_ = conn.Close()
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// deadListener accepts nothing.
type deadListener struct{ err error }

func (l deadListener) Accept() (net.Conn, error) { return nil, l.err }
func (deadListener) Close() error                { return nil }
func (deadListener) Addr() net.Addr              { return &net.TCPAddr{} }

func TestListenErrors(t *testing.T) {
	t.Parallel()
	taken, address := listen(t, &http.Server{Handler: http.NotFoundHandler()})
	defer func() { _ = taken.Sockets[0].Close() }()
	good := &http.Server{Addr: "127.0.0.1:0", Handler: http.NotFoundHandler()}
	for want, second := range map[string]*http.Server{
		"server 2 of 2 needs an Addr": {Handler: http.NotFoundHandler()},
		"and a Handler":               {Addr: "127.0.0.1:0"},
		address:                       {Addr: address, Handler: http.NotFoundHandler()},
	} {
		if _, err := serving.Listen(t.Context(), good, second); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not contain %q", err, want)
		}
	}
}

// A client that sends its request too slowly is disconnected.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	read := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	s := &http.Server{Handler: read, ReadHeaderTimeout: 20 * time.Millisecond, ReadTimeout: 50 * time.Millisecond}
	site, address := listen(t, s)
	stop := start(t, untilEnd, site)
	for name, beginning := range map[string]string{
		"half a header": "GET / HTTP/1.1\r\nHost:",
		"half a body":   "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc",
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprint(conn, beginning)
		if _, err := io.ReadAll(conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: %v", name, err)
		}
		_ = conn.Close()
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if s.ReadHeaderTimeout != 20*time.Millisecond || s.ReadTimeout != 50*time.Millisecond || s.WriteTimeout == 0 || s.IdleTimeout == 0 || s.MaxHeaderBytes == 0 {
		t.Errorf("timeouts are %+v", s)
	}
}

// The end of a chunked request may be another one for a proxy in front.
func TestChunkedRequestEndsConnection(t *testing.T) {
	t.Parallel()
	site, address := listen(t, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") })})
	stop := start(t, untilEnd, site)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n")
	all, err := io.ReadAll(conn)
	if err != nil || strings.Count(string(all), "HTTP/1.1 200") != 1 {
		t.Errorf("%v, %s", err, all)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
