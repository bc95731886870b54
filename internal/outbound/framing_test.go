package outbound_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// DLV-07, CVE-2026-33814: a server that offers HTTP/2 is not spoken to in it, so that
// the parser of its frames is not there to be kept busy.
func TestSendSpeaksHTTP1Only(t *testing.T) {
	t.Parallel()
	var protocol atomic.Value
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { protocol.Store(r.Proto) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	config := outbound.Config{Policy: outbound.Policy{AllowLoopback: true}, TLS: &tls.Config{RootCAs: roots(s)}}
	if res := send(t, newClient(t, config), s.URL); res.Status != http.StatusOK || protocol.Load() != "HTTP/1.1" {
		t.Errorf("status %d over %v", res.Status, protocol.Load())
	}
}

// DLV-07, CVE-2023-39326: the limit of a body is one of the wire too. A server that
// hides a byte behind each long chunk extension cannot make us read without end.
func TestSendLeavesChunkExtensions(t *testing.T) {
	t.Parallel()
	url, config := server(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for chunk := fmt.Sprintf("1;x=%s\r\na\r\n", strings.Repeat("x", 2<<10)); err == nil; {
			_, err = io.WriteString(conn, chunk)
		}
	})
	var read atomic.Int64
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return counter{conn, &read}, err
	}
	res := send(t, newClient(t, config), url)
	var broken *outbound.Error
	if res.Status != http.StatusOK || !errors.As(res.BodyErr, &broken) || broken.Kind != outbound.KindResponse {
		t.Errorf("status %d, body error %v; want 200 and a body given up", res.Status, res.BodyErr)
	}
	if read.Load() > 2*outbound.DefaultMaxBody { // as many bytes as the largest body, in spite of 1 in 2,000
		t.Errorf("%d bytes came off the wire for %d of the body", read.Load(), len(res.Body))
	}
}
