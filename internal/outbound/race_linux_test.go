package outbound_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// DLV-01: an address family whose packets vanish does not hold a connection up: the
// other one is connected to while the first is still being tried.
func TestSendRacesAddressFamilies(t *testing.T) {
	url, config := server(t, func(http.ResponseWriter, *http.Request) {})
	config.TLS, config.AnyCertificateOnLoopback = nil, true // no certificate is for the name
	at := netip.MustParseAddrPort(strings.TrimPrefix(url, "https://"))
	blackHole(t, netip.AddrPortFrom(netip.IPv6Loopback(), at.Port()))
	useResolver(t, dnsServer(t, map[string][]netip.Addr{"both.test": addrs("::1", "127.0.0.1")}))

	var mu sync.Mutex
	var begun, ended []string // addresses, in order
	note := func(list *[]string, address string) {
		mu.Lock()
		defer mu.Unlock()
		*list = append(*list, address)
	}
	traced := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		ConnectStart: func(_, address string) { note(&begun, address) },
		ConnectDone:  func(_, address string, _ error) { note(&ended, address) },
	})
	res, err := newClient(t, config).Send(post(t, strings.Replace(url, at.Addr().String(), "both.test", 1)).WithContext(traced))
	if err != nil || res.Status != http.StatusOK {
		t.Fatalf("%+v, %v; want status 200", res, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(begun) != 2 || begun[0] == at.String() || ended[0] != at.String() {
		t.Errorf("began %v, ended %v; want IPv4 to begin last and to end first", begun, ended)
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
