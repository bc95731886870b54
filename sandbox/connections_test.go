package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/serving"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// limitedServer is a server that limits connections.
type limitedServer struct {
	t       *testing.T
	address string
	refused atomic.Int64
}

// serveLimited serves with limits of connections, and proxies that are trusted.
func serveLimited(t *testing.T, each, all int, proxies ...netip.Prefix) *limitedServer {
	t.Helper()
	trusted, err := ratelimit.NewProxies(proxies)
	if err != nil {
		t.Fatal(err)
	}
	s := &limitedServer{t: t}
	limit := newConnectionLimit(4*leastPerNetwork, trusted, func() { s.refused.Add(1) }, discard())
	limit.each, limit.all = each, all
	e, err := listen(t.Context(), "-api", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(e.port))
	site := e.site(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") }), limit, apierror.Writer{})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	work := func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	}
	go func() { served <- serving.Run(ctx, discard(), work, site) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if limit.total != 0 || len(limit.open) != 0 {
			t.Errorf("%d connections counted at the end, %v", limit.total, limit.open)
		}
	})
	return s
}

// connect opens a connection from an address of loopback, and sends nothing.
func (s *limitedServer) connect(from string) net.Conn {
	s.t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	c, err := dialer.Dial("tcp", s.address)
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		s.t.Skipf("this machine does not have the address %s", from)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// isServed sends a request and reports whether there is a response. The connection stays
// open.
func (s *limitedServer) isServed(c net.Conn) bool {
	s.t.Helper()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		s.t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return false
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err == nil && res.StatusCode == http.StatusOK
}

// One address that keeps connections open does not keep others out, whether it sent a
// request on them or nothing at all.
func TestConnectionsOfOneAddress(t *testing.T) {
	t.Parallel()
	s := serveLimited(t, 3, 100)
	silent, used, third := s.connect("127.0.0.1"), s.connect("127.0.0.1"), s.connect("127.0.0.1")
	if !s.isServed(used) || !s.isServed(used) || !s.isServed(third) {
		t.Fatal("not served below the limit")
	}
	for range 5 {
		if s.isServed(s.connect("127.0.0.1")) {
			t.Error("served above the limit")
		}
	}
	if got := s.refused.Load(); got != 5 {
		t.Errorf("%d connections counted as refused", got)
	}
	if !s.isServed(s.connect("127.0.0.2")) {
		t.Error("another address is not served")
	}
	if !s.isServed(used) || !s.isServed(silent) {
		t.Error("an open connection of the address is not served")
	}
	if err := used.Close(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); !s.isServed(s.connect("127.0.0.1")); {
		if time.Now().After(end) {
			t.Fatal("a connection that was closed still counts")
		}
	}
}

// Many clients share the address of a trusted proxy.
func TestConnectionsOfTrustedProxy(t *testing.T) {
	t.Parallel()
	s := serveLimited(t, 2, 10, netip.MustParsePrefix("127.0.0.8/32"))
	for range 9 {
		if !s.isServed(s.connect("127.0.0.8")) {
			t.Fatal("the proxy is not served")
		}
	}
	if !s.isServed(s.connect("127.0.0.1")) {
		t.Error("the last connection of all is not served")
	}
	for _, from := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.8"} {
		if s.isServed(s.connect(from)) {
			t.Errorf("%s is served above the limit of all", from)
		}
	}
}

func TestConnectionsByNetwork(t *testing.T) {
	t.Parallel()
	proxies, err := ratelimit.NewProxies([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	if err != nil {
		t.Fatal(err)
	}
	l := newConnectionLimit(4*leastPerNetwork, proxies, func() {}, discard())
	for address, want := range map[string]struct {
		network string
		limited bool
	}{
		"[2001:db8:0:1::1]:1":   {"2001:db8:0:1::/64", true},
		"[2001:db8:0:1:f::2]:2": {"2001:db8:0:1::/64", true},
		"[::ffff:192.0.2.1]:1":  {"192.0.2.1/32", true},
		"192.0.2.1:5":           {"192.0.2.1/32", true},
		"10.1.2.3:1":            {"10.1.2.3/32", false},
		"[::ffff:10.1.2.3]:1":   {"10.1.2.3/32", false},
		"[fe80::1:2%lo]:1":      {"fe80::/64", true},
	} {
		from, limited := l.network(addressed{to: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))})
		if from.String() != want.network || limited != want.limited {
			t.Errorf("%s: %v, limited %v", address, from, limited)
		}
	}
}

// addressed is a connection that has only an address.
type addressed struct {
	net.Conn
	to net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.to }

func TestConnectionLimits(t *testing.T) {
	t.Parallel()
	for files, want := range map[int][2]int{
		256: {192, 192}, 1024: {512, 768}, 4096: {1024, 3072}, 20000: {5000, 15000}, 1 << 30: {1 << 28, 3 << 28},
	} {
		if l := newConnectionLimit(files, ratelimit.Proxies{}, nil, discard()); l.each != want[0] || l.all != want[1] {
			t.Errorf("%d files: %d for a network, %d for all", files, l.each, l.all)
		}
	}
	if files := openFiles(); files < 64 {
		t.Errorf("the process may open %d files", files)
	}
}
