package outbound

import (
	"crypto/tls"
	"net"
	"net/http/httptest"
	"testing"
	"time"
)

// An idle connection is closed in whatever goroutine comes along: a server that reads
// nothing must not hold that one up.
func TestCloseWaitsForNobody(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS() // for its certificate
	defer server.Close()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	go func() { _ = tls.Server(theirs, server.TLS).Handshake() }()                                   // and then it reads no more
	secured := tls.Client(ours, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}) //nolint:gosec // a pipe
	if err := secured.Handshake(); err != nil {
		t.Fatal(err)
	}
	p := pool{max: 1, maxPerHost: 1}
	p.put(newLink(secured, "https://example.com"))
	begun := time.Now()
	p.closeAll()
	if took := time.Since(begun); took > time.Second {
		t.Errorf("closing took %v", took)
	}
	if _, err := ours.Write([]byte("x")); err == nil {
		t.Error("the connection is still open")
	}
}
