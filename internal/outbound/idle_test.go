package outbound_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// An idle connection that the server closes, or writes to, does not cost a request.
func TestSendLeavesStaleConnections(t *testing.T) {
	t.Parallel()
	for name, afterwards := range map[string]string{"closed": "", "talking": "HTTP/1.1 500 Not asked\r\nContent-Length: 0\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spoilt := make(chan struct{}, 1)
			url, config := server(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
				go func() {
					time.Sleep(20 * time.Millisecond) // until the response is read
					_, _ = io.WriteString(conn, afterwards)
					_ = conn.Close()
					spoilt <- struct{}{}
				}()
			})
			client := newClient(t, config)
			for range 3 {
				if res := send(t, client, url); res.Status != http.StatusNoContent {
					t.Errorf("status %d", res.Status)
				}
				<-spoilt
				time.Sleep(10 * time.Millisecond) // until it is here
			}
		})
	}
}

// A request goes to a new connection when the idle one has been closed.
func TestSendTriesAnotherConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var dialled []net.Conn
		var serving sync.WaitGroup
		client := newClient(t, outbound.Config{
			Policy: outbound.Policy{AllowLoopback: true},
			Dial: func(context.Context, string, string) (net.Conn, error) {
				near, far := net.Pipe()
				dialled = append(dialled, far)
				serving.Go(func() { responseAll(far) })
				return near, nil
			},
		})
		for want := range 3 {
			res, err := client.Send(post(t, "http://localhost/"))
			if err != nil || res.Status != http.StatusNoContent || len(dialled) != want+1 {
				t.Fatalf("%d connections, %v, %v", len(dialled), res, err)
			}
			_ = dialled[want].Close()
			serving.Wait()
		}
	})
}

// responseAll responds to every request with 204, a second later: by then requests that were
// sent at the same time have connections of their own.
func responseAll(conn net.Conn) {
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(time.Second)
		w.WriteHeader(http.StatusNoContent)
	})}
	once := &onceListener{conn: conn, done: make(chan struct{})}
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(once.done)
		}
	}
	_ = server.Serve(once)
}

// onceListener has one connection.
type onceListener struct {
	conn net.Conn
	done chan struct{}
}

func (l *onceListener) Accept() (net.Conn, error) {
	if conn := l.conn; conn != nil {
		l.conn = nil
		return conn, nil
	}
	<-l.done
	return nil, net.ErrClosed
}
func (l *onceListener) Close() error   { return nil }
func (l *onceListener) Addr() net.Addr { return &net.TCPAddr{} }

// Connections are kept for a minute, and no more than are asked for.
func TestSendBoundsIdleConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		var serving sync.WaitGroup
		client := newClient(t, outbound.Config{
			Policy: outbound.Policy{AllowLoopback: true}, MaxIdle: 3, MaxIdlePerHost: 2,
			Dial: func(context.Context, string, string) (net.Conn, error) {
				near, far := net.Pipe()
				open.Add(1)
				serving.Go(func() {
					responseAll(far)
					open.Add(-1)
				})
				return near, nil
			},
		})
		at := func(urls ...string) {
			t.Helper()
			var sending sync.WaitGroup
			for _, url := range urls {
				sending.Go(func() {
					if res, err := client.Send(post(t, url)); err != nil || !res.IsSuccess() {
						t.Error(res, err)
					}
				})
			}
			sending.Wait()
			synctest.Wait()
		}
		const a, b, c = "http://localhost:1/", "http://localhost:2/", "http://localhost:3/"
		for _, step := range []struct {
			urls []string
			want int64
		}{{[]string{a, a, a}, 2}, {[]string{b}, 3}, {[]string{c}, 3}} {
			if at(step.urls...); open.Load() != step.want {
				t.Errorf("%d connections after %v, want %d", open.Load(), step.urls, step.want)
			}
		}
		time.Sleep(30 * time.Second)
		at(b)
		time.Sleep(30 * time.Second)
		if synctest.Wait(); open.Load() != 1 {
			t.Errorf("%d connections a minute later, want that of the last request", open.Load())
		}
		client.CloseIdle()
		if synctest.Wait(); open.Load() != 0 {
			t.Errorf("%d connections that were closed", open.Load())
		}
		time.Sleep(time.Minute) // the timer
		serving.Wait()
	})
}

// A server may respond before it has read a long body, and never read it.
func TestSendHearsAnEarlyResponse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		client := newClient(t, outbound.Config{
			Policy: outbound.Policy{AllowLoopback: true},
			Dial:   func(context.Context, string, string) (net.Conn, error) { return near, nil },
		})
		var serving sync.WaitGroup
		serving.Go(func() {
			_, _ = io.ReadFull(far, make([]byte, 100))
			_, _ = io.WriteString(far, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
			_, _ = io.Copy(io.Discard, far) // its end
		})
		req, err := http.NewRequest(http.MethodPost, "http://localhost/", strings.NewReader(strings.Repeat("x", 1<<20)))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if res, err := client.Send(req); err != nil || res.Status != http.StatusRequestEntityTooLarge || time.Since(start) >= time.Second {
			t.Errorf("%v, %v after %v", res, err, time.Since(start))
		}
		serving.Wait()
	})
}

// Send returns when the caller's context ends.
func TestSendEndsWithTheCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		client := newClient(t, outbound.Config{
			Policy: outbound.Policy{AllowLoopback: true},
			Dial:   func(context.Context, string, string) (net.Conn, error) { return near, nil },
		})
		var serving sync.WaitGroup
		serving.Go(func() { _, _ = io.Copy(io.Discard, far) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Send(request(t, ctx, "http://localhost/"))
		wantKind(t, err, outbound.KindTimeout, "the caller's deadline")
		ctx, cancel = context.WithCancel(t.Context())
		near, far = net.Pipe()
		serving.Go(func() { _, _ = io.Copy(io.Discard, far) })
		time.AfterFunc(time.Second, cancel)
		_, err = client.Send(request(t, ctx, "http://localhost/"))
		wantKind(t, err, outbound.KindCanceled, "a caller that gives up")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v does not wrap context.Canceled", err)
		}
		serving.Wait()
	})
}

// One connection carries many requests, each with its own body.
func TestSendKeepsBodiesApart(t *testing.T) {
	t.Parallel()
	url, config := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	client := newClient(t, config)
	for _, size := range []int{0, 1, 4 << 10, 16 << 10, 16<<10 + 1, 60 << 10} {
		body := bytes.Repeat([]byte{byte('a' + size%26)}, size)
		req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Send(req)
		if err != nil || !bytes.Equal(res.Body, body) || res.BodyErr != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
