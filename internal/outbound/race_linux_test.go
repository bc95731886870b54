package outbound_test

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// DLV-01: an address family whose packets vanish delays a connection by the head start
// that net.Dialer gives it, not by a share of the timeout. The bound is half of the
// latter.
func TestSendRacesAddressFamilies(t *testing.T) {
	url, config := server(t, func(http.ResponseWriter, *http.Request) {})
	config.TLS, config.AnyCertificateOnLoopback = nil, true // no certificate is for the name
	at := netip.MustParseAddrPort(strings.TrimPrefix(url, "https://"))
	blackHole(t, netip.AddrPortFrom(netip.IPv6Loopback(), at.Port()))
	useResolver(t, dnsServer(t, map[string][]netip.Addr{"both.test": addrs("::1", "127.0.0.1")}))

	begun := time.Now()
	if res := send(t, newClient(t, config), strings.Replace(url, at.Addr().String(), "both.test", 1)); res.Status != http.StatusOK {
		t.Errorf("status %d, want 200", res.Status)
	}
	if took := time.Since(begun); took > outbound.DefaultTimeout/4 {
		t.Errorf("the connection took %v", took)
	}
}

// blackHole makes an address drop the packets of new connections: its queue of
// connections is as short as can be, full, and not emptied.
func blackHole(t *testing.T, at netip.AddrPort) {
	t.Helper()
	listener, err := net.ListenTCP("tcp6", net.TCPAddrFromAddrPort(at))
	if err != nil {
		t.Skip("cannot listen at ", at, ": ", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	raw, err := listener.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var shortened error
	if err := raw.Control(func(fd uintptr) { shortened = syscall.Listen(int(fd), 0) }); err != nil || shortened != nil {
		t.Fatal(err, shortened)
	}
	for range 10 {
		conn, err := net.DialTimeout("tcp6", at.String(), 200*time.Millisecond)
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Fatal("the queue does not fill up")
}
