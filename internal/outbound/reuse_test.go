package outbound_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// A second response that comes in the same TCP segment as the first is not the response
// to the next request.
func TestSendDropsUnsolicitedResponses(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	url, config, _ := rawServer(t, func(n int, conn net.Conn, wire *heldConn) {
		reader := bufio.NewReader(conn)
		if n > 1 {
			serveOne(t, reader, conn, "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")
			return
		}
		wire.hold()
		serveOne(t, reader, conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") // a record of its own
		wire.release()
		if _, err := reader.ReadByte(); err != nil {
			close(closed)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")
		_, _ = io.Copy(io.Discard, reader)
	})
	client := newClient(t, config)
	if res := send(t, client, url); res.Status != http.StatusOK {
		t.Errorf("first status %d, want 200", res.Status)
	}
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Error("the connection stays open")
	}
	if res := send(t, client, url); res.Status != http.StatusInternalServerError {
		t.Errorf("second status %d, want 500", res.Status)
	}
}

// A status below 100 is not an interim response: what follows it is not read.
func TestSendRefusesStatusBelow100(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"000", "007", "099"} {
		url, config, _ := rawServer(t, func(_ int, conn net.Conn, _ *heldConn) {
			serveOne(t, bufio.NewReader(conn), conn,
				"HTTP/1.1 "+status+" Odd\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		})
		res, err := newClient(t, config).Send(post(t, url))
		if err == nil {
			t.Errorf("status %s: response %+v, want an error", status, res)
			continue
		}
		wantKind(t, err, outbound.KindResponse, "status "+status)
	}
}

// DLV-05: a request is sent again only if a reused connection ended before the first byte
// of a response.
func TestSendRepeatsOnClosedConnections(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	for name, test := range map[string]struct {
		warmUp bool   // send a request before, so that its connection is reused
		part   string // of a response, before the connection ends
		conns  int    // how many connections the server sees in all
		err    bool
	}{
		"DLV-05 reused, closed before a response":     {warmUp: true, conns: 2},
		"DLV-05 reused, closed within a response":     {warmUp: true, part: "HTTP/1.1 2", conns: 1, err: true},
		"DLV-05 new, closed before a response":        {conns: 1, err: true},
		"DLV-05 new, closed after part of a response": {part: "HTTP/1.1 2", conns: 1, err: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, config, conns := rawServer(t, func(n int, conn net.Conn, _ *heldConn) {
				reader := bufio.NewReader(conn)
				if n == 1 && test.warmUp || n == 2 {
					serveOne(t, reader, conn, ok)
				}
				serveOne(t, reader, conn, test.part)
			})
			client := newClient(t, config)
			if test.warmUp {
				send(t, client, url)
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"a":1}`))
			if err != nil {
				t.Fatal(err)
			}
			res, err := client.Send(req)
			if test.err {
				wantKind(t, err, outbound.KindResponse, name)
			} else if err != nil || res.Status != http.StatusOK {
				t.Errorf("Send = %+v, %v; want status 200", res, err)
			}
			if got := conns(); got != test.conns {
				t.Errorf("%d connections, want %d", got, test.conns)
			}
			if len(req.Header) != 0 {
				t.Errorf("Send changed the headers of its request: %v", req.Header)
			}
		})
	}
}

// rawServer accepts TLS connections on loopback. It serves each with its number, from 1
// on, closes it afterwards, and counts them.
func rawServer(t *testing.T, serve func(n int, conn net.Conn, wire *heldConn)) (url string, config outbound.Config, conns func() int) {
	t.Helper()
	certified := newPipeServer(t)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var serving sync.WaitGroup
	n := 0
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			n++
			number := n
			mu.Unlock()
			serving.Go(func() {
				wire := &heldConn{Conn: conn}
				secured := tls.Server(wire, &tls.Config{Certificates: certified.TLS.Certificates})
				defer func() { _ = secured.Close() }()
				if err := secured.HandshakeContext(t.Context()); err == nil {
					serve(number, secured, wire)
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	config = outbound.Config{Policy: outbound.Policy{AllowLoopback: true}, TLS: &tls.Config{RootCAs: roots(certified.Server)}}
	return "https://" + listener.Addr().String(), config, func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// serveOne reads a request and writes response, as it is. It writes nothing after the
// last request.
func serveOne(t *testing.T, reader *bufio.Reader, conn net.Conn, response string) {
	req, err := http.ReadRequest(reader)
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		t.Error(err)
	}
	if values, sent := req.Header["Idempotency-Key"]; sent {
		t.Errorf("the request has an Idempotency-Key header: %q", values)
	}
	_, _ = io.WriteString(conn, response)
}

// heldConn can hold back what is written, so that it leaves in one segment.
type heldConn struct {
	net.Conn
	isHeld bool
	held   bytes.Buffer
}

func (c *heldConn) hold() { c.isHeld = true }

func (c *heldConn) release() {
	c.isHeld = false
	_, _ = c.Conn.Write(c.held.Bytes())
}

func (c *heldConn) Write(p []byte) (int, error) {
	if c.isHeld {
		return c.held.Write(p)
	}
	return c.Conn.Write(p)
}
