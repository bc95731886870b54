package outbound_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// DLV-01: one clock runs over DNS, connecting, the handshake and the headers. Time
// is the bubble's, so the bounds are exact.
func TestSendTimesOut(t *testing.T) {
	t.Parallel()
	server := newPipeServer(t)
	stalls := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for name, stall := range map[string]func(p *pipes, config *outbound.Config){
		"DNS": func(_ *pipes, config *outbound.Config) {
			config.Resolver = lookup(func(ctx context.Context) ([]netip.Addr, error) { return nil, stalls(ctx) })
		},
		"connecting": func(_ *pipes, config *outbound.Config) {
			config.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return nil, stalls(ctx) }
		},
		"the handshake": func(p *pipes, config *outbound.Config) {
			config.Dial = func(context.Context, string, string) (net.Conn, error) { return p.silent(), nil }
		},
		"the headers": func(p *pipes, _ *outbound.Config) {
			p.handle(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		},
		"headers in drops": func(p *pipes, _ *outbound.Config) {
			p.handle(func(w http.ResponseWriter, r *http.Request) {
				for r.Context().Err() == nil {
					w.WriteHeader(http.StatusEarlyHints)
					time.Sleep(time.Second)
				}
			})
		},
		"each step a little": func(p *pipes, config *outbound.Config) {
			inner := config.Dial
			config.Resolver = lookup(func(context.Context) ([]netip.Addr, error) {
				time.Sleep(4 * time.Second)
				return addrs("93.184.216.34"), nil
			})
			config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				time.Sleep(4 * time.Second)
				return inner(ctx, network, address)
			}
			p.handle(func(http.ResponseWriter, *http.Request) { time.Sleep(4 * time.Second) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, config := server.open(t)
				stall(p, &config)
				start := time.Now()
				_, err := newClient(t, config).Send(post(t, "https://example.com/hooks"))
				wantKind(t, err, outbound.KindTimeout, name)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v does not wrap context.DeadlineExceeded", err)
				}
				if took := time.Since(start); took != outbound.DefaultTimeout {
					t.Errorf("gave up after %v, want %v", took, outbound.DefaultTimeout)
				}
			})
		})
	}
}

// DLV-01: with the last header in, a body that stalls changes nothing.
func TestSendKeepsTheStatusOfAStalledBody(t *testing.T) {
	t.Parallel()
	server := newPipeServer(t)
	for name, body := range map[string]func(w http.ResponseWriter, r *http.Request){
		"stops": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "part")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"drips": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, "part")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(300 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, config := server.open(t)
				p.handle(body)
				start := time.Now()
				res, err := newClient(t, config).Send(post(t, "https://example.com/hooks"))
				if err != nil {
					t.Fatal(err)
				}
				if !res.IsSuccess() || string(res.Body[:4]) != "part" {
					t.Errorf("status %d, body %q", res.Status, res.Body)
				}
				wantKind(t, res.BodyErr, outbound.KindTimeout, name)
				if took := time.Since(start); took != outbound.DefaultTimeout {
					t.Errorf("read for %v, want %v", took, outbound.DefaultTimeout)
				}
			})
		})
	}
}

// An address that swallows packets leaves time for the next one.
func TestSendSharesTheTimeBetweenAddresses(t *testing.T) {
	t.Parallel()
	server := newPipeServer(t)
	synctest.Test(t, func(t *testing.T) {
		_, config := server.open(t)
		inner := config.Dial
		config.Resolver = responding(addrs("2606:4700::1", "93.184.216.34"))
		config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == "93.184.216.34:443" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return inner(ctx, network, address)
		}
		if res := send(t, newClient(t, config), "https://example.com/"); !res.IsSuccess() {
			t.Errorf("status %d", res.Status)
		}
	})
}

// A dial whose caller has given up may serve the next request. It ends with CloseIdle, so
// that nothing is left behind at shutdown, or when its time is over.
func TestSendEndsAbandonedDials(t *testing.T) {
	t.Parallel()
	server := newPipeServer(t)
	for name, test := range map[string]struct {
		closes bool
		want   time.Duration
	}{"CloseIdle": {true, time.Second}, "the timeout": {false, outbound.DefaultTimeout}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, config := server.open(t)
				ended := make(chan time.Time, 1)
				config.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
					<-ctx.Done()
					ended <- time.Now()
					return nil, ctx.Err()
				}
				start := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				client := newClient(t, config)
				_, err := client.Send(request(t, ctx, "https://example.com/"))
				wantKind(t, err, outbound.KindCanceled, "cancelled while connecting")
				if test.closes {
					client.CloseIdle()
				}
				if took := (<-ended).Sub(start); took != test.want {
					t.Errorf("the dial ended after %v, want %v", took, test.want)
				}
			})
		})
	}
}

// Closing an idle connection does not wait for a server that does not read.
func TestCloseIdleDoesNotWait(t *testing.T) {
	t.Parallel()
	server := newPipeServer(t)
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		var serving sync.WaitGroup
		serving.Go(func() {
			conn := tls.Server(far, &tls.Config{Certificates: server.TLS.Certificates})
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n") // and then it reads no more
		})
		client := newClient(t, outbound.Config{
			TLS:      &tls.Config{RootCAs: roots(server.Server)},
			Resolver: responding(addrs("93.184.216.34")),
			Dial:     func(context.Context, string, string) (net.Conn, error) { return near, nil },
		})
		send(t, client, "https://example.com/")
		serving.Wait()
		begun := time.Now()
		client.CloseIdle()
		if took := time.Since(begun); took != 0 {
			t.Errorf("closing took %v", took)
		}
		if _, err := near.Write([]byte("x")); err == nil {
			t.Error("the connection is still open")
		}
	})
}

// CIMD-03: any certificate is good enough on loopback, and nowhere else.
func TestSendChecksCertificatesBeyondLoopback(t *testing.T) {
	t.Parallel()
	server := newPipeServer(t)
	synctest.Test(t, func(t *testing.T) {
		_, config := server.open(t)
		config.TLS = &tls.Config{RootCAs: x509.NewCertPool()} // trusts no authority
		config.Policy.AllowLoopback = true
		config.AnyCertificateOnLoopback = true
		client := newClient(t, config)
		if res := send(t, client, "https://localhost/"); !res.IsSuccess() {
			t.Errorf("loopback: status %d", res.Status)
		}
		_, err := client.Send(post(t, "https://example.com/"))
		wantKind(t, err, outbound.KindTLS, "a public address")
	})
}

// lookup makes a resolver of a function.
type lookup func(ctx context.Context) ([]netip.Addr, error)

func (l lookup) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) { return l(ctx) }

// A pipeServer lends a certificate for example.com to servers inside bubbles.
type pipeServer struct{ *httptest.Server }

func newPipeServer(t *testing.T) pipeServer {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	s.Close() // the certificate is all that is wanted
	return pipeServer{s}
}

// open starts an HTTP server over net.Pipe in the current bubble, and gives the
// configuration of a client that finds it at a public address.
func (s pipeServer) open(t *testing.T) (*pipes, outbound.Config) {
	t.Helper()
	p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.handler != nil {
			p.handler(w, r)
		}
		if r.Context().Err() != nil {
			panic(http.ErrAbortHandler) // the client hung up: it gets no proper end from us
		}
	})
	srv := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = srv.Serve(tls.NewListener(p, &tls.Config{Certificates: s.TLS.Certificates})) }()
	t.Cleanup(func() {
		_ = srv.Close()
		for _, conn := range p.silenced {
			_ = conn.Close()
		}
		time.Sleep(time.Minute) // of the bubble: handlers that sleep wake up and see the end
	})
	return p, outbound.Config{
		Resolver: responding(addrs("93.184.216.34")),
		TLS:      &tls.Config{RootCAs: roots(s.Server)},
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			near, far := net.Pipe()
			select {
			case p.conns <- far:
				return near, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	}
}

// pipes is a net.Listener whose connections never touch the network.
type pipes struct {
	conns    chan net.Conn
	closed   chan struct{}
	handler  http.HandlerFunc
	silenced []net.Conn
}

func (p *pipes) handle(handler http.HandlerFunc) { p.handler = handler }

// silent gives a connection whose other end never says a word.
func (p *pipes) silent() net.Conn {
	near, far := net.Pipe()
	p.silenced = append(p.silenced, far)
	return near
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }
