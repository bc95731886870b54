package outbound_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// DLV-07: an address that a literal may not name, a DNS response may not either.
func TestSendRefusesSpecialAddressesFromDNS(t *testing.T) {
	t.Parallel()
	zone := map[string][]netip.Addr{}
	name := func(i int) string { return fmt.Sprintf("host%d.test", i) }
	for i, text := range specialAddresses {
		zone[name(i)] = addrs(text)
	}
	zone["127.0.0.1.nip.io"] = addrs("127.0.0.1")
	zone["169.254.169.254.nip.io"] = addrs("169.254.169.254")
	below := new(recorder)
	client := newClient(t, outbound.Config{Resolver: dnsServer(t, zone), Dial: below.dial})
	for host, found := range zone {
		_, err := client.Send(post(t, "https://"+host+"/hooks"))
		wantKind(t, err, outbound.KindBlocked, fmt.Sprint(host, " at ", found))
	}
	if dialed := below.addresses(); len(dialed) > 0 {
		t.Errorf("dialled %v, want nothing", dialed)
	}
}

func TestSendDialsPublicAddressesFromDNS(t *testing.T) {
	t.Parallel()
	below := new(recorder)
	client := newClient(t, outbound.Config{Dial: below.dial, Resolver: dnsServer(t, map[string][]netip.Addr{
		"four.test": addrs("93.184.216.34"),
		"six.test":  addrs("2606:4700:4700::1111"),
	})})
	for _, raw := range []string{"https://four.test/", "https://six.test:8443/", "https://8.8.8.8/"} {
		_, err := client.Send(post(t, raw))
		wantKind(t, err, outbound.KindConnect, raw)
		if !errors.Is(err, errNoNetwork) {
			t.Errorf("%s: %v, want the cause kept for the log", raw, err)
		}
	}
	_, err := client.Send(post(t, "https://unknown.test/"))
	wantKind(t, err, outbound.KindDNS, "unknown.test")
	want := []string{"93.184.216.34:443", "[2606:4700:4700::1111]:8443", "8.8.8.8:443"}
	if diff := cmp.Diff(want, below.addresses()); diff != "" {
		t.Errorf("dialled (-want +got):\n%s", diff)
	}
}

// A panic of the host's Dial is an error of the one request. The transport dials on a goroutine
// of its own, so it would end the process.
func TestSendDialPanics(t *testing.T) {
	t.Parallel()
	for name, dial := range map[string]func(context.Context, string, string) (net.Conn, error){
		"a panic":       func(context.Context, string, string) (net.Conn, error) { panic("proxy password") },
		"no connection": func(context.Context, string, string) (net.Conn, error) { return nil, nil },
	} {
		client := newClient(t, outbound.Config{Resolver: responding(addrs("93.184.216.34")), Dial: dial})
		_, err := client.Send(post(t, "https://panic.test/"))
		wantKind(t, err, outbound.KindConnect, name)
		if err == nil || strings.Contains(err.Error(), "proxy password") { // TOK-09
			t.Errorf("%s: %v", name, err)
		}
	}
}

// DLV-07: a name is looked up once for each connection, and that response is both
// checked and dialled, so changing it in between gains nothing.
func TestSendWithstandsRebinding(t *testing.T) {
	t.Parallel()
	below := new(recorder)
	names := responding(addrs("93.184.216.34"), addrs("127.0.0.1"))
	client := newClient(t, outbound.Config{Resolver: names, Dial: below.dial})
	_, err := client.Send(post(t, "https://rebind.test/"))
	wantKind(t, err, outbound.KindConnect, "first answer")
	_, err = client.Send(post(t, "https://rebind.test/"))
	wantKind(t, err, outbound.KindBlocked, "second answer")
	if diff := cmp.Diff([]string{"93.184.216.34:443"}, below.addresses()); diff != "" {
		t.Errorf("dialled (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"rebind.test.", "rebind.test."}, names.asked); diff != "" {
		t.Errorf("looked up (-want +got):\n%s", diff)
	}
}

func TestSendPassesOverRefusedAddresses(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ response, want []string }{
		"one good, one bad": {
			[]string{"10.0.0.1", "93.184.216.34"}, []string{"93.184.216.34:443"},
		},
		"mapped answers are dialled as IPv4": {
			[]string{"::ffff:93.184.216.34", "::ffff:127.0.0.1"}, []string{"93.184.216.34:443"},
		},
		"IPv4 first": {
			[]string{"2606:4700::1", "2606:4700::2", "fe80::1%eth0", "1.1.1.1"},
			[]string{"1.1.1.1:443", "[2606:4700::1]:443", "[2606:4700::2]:443"},
		},
		"no more than eight": {
			[]string{"1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4", "1.1.1.5", "1.1.1.6", "1.1.1.7", "1.1.1.8", "1.1.1.9"},
			[]string{
				"1.1.1.1:443", "1.1.1.2:443", "1.1.1.3:443", "1.1.1.4:443",
				"1.1.1.5:443", "1.1.1.6:443", "1.1.1.7:443", "1.1.1.8:443",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			below := new(recorder)
			client := newClient(t, outbound.Config{Resolver: responding(addrs(row.response...)), Dial: below.dial})
			_, err := client.Send(post(t, "https://mixed.test/"))
			wantKind(t, err, outbound.KindConnect, name)
			if diff := cmp.Diff(row.want, below.addresses()); diff != "" {
				t.Errorf("dialled (-want +got):\n%s", diff)
			}
		})
	}
}

// The names of this machine are never asked of DNS, so DNS cannot move them.
func TestSendResponsesLocalhostItself(t *testing.T) {
	t.Parallel()
	names := responding(addrs("93.184.216.34"))
	below := new(recorder)
	client := newClient(t, outbound.Config{
		Policy: outbound.Policy{AllowLoopback: true}, Resolver: names, Dial: below.dial,
	})
	for _, raw := range []string{"http://localhost:9000/", "https://app.localhost:9000/"} {
		_, err := client.Send(post(t, raw))
		wantKind(t, err, outbound.KindConnect, raw)
	}
	want := []string{"127.0.0.1:9000", "[::1]:9000", "127.0.0.1:9000", "[::1]:9000"}
	if diff := cmp.Diff(want, below.addresses()); diff != "" {
		t.Errorf("dialled (-want +got):\n%s", diff)
	}
	if len(names.asked) > 0 {
		t.Errorf("asked DNS for %v", names.asked)
	}
}

// DLV-07: the development option opens no private network to a DNS response.
func TestSendAllowLoopbackOpensLoopbackOnly(t *testing.T) {
	t.Parallel()
	for _, text := range specialAddresses {
		addr := netip.MustParseAddr(text)
		if addr.Unmap().IsLoopback() {
			continue
		}
		below := new(recorder)
		client := newClient(t, outbound.Config{
			Policy: outbound.Policy{AllowLoopback: true}, Resolver: responding([]netip.Addr{addr}), Dial: below.dial,
		})
		_, err := client.Send(post(t, "https://private.test/"))
		wantKind(t, err, outbound.KindBlocked, text)
		if dialed := below.addresses(); len(dialed) > 0 {
			t.Errorf("%s: dialled %v, want nothing", text, dialed)
		}
	}
}

// DLV-07: without Config.Dial the address is checked at the socket, after DNS.
func TestSocketGuard(t *testing.T) {
	url, config := server(t, func(http.ResponseWriter, *http.Request) {})
	at := netip.MustParseAddrPort(strings.TrimPrefix(url, "https://"))
	zone := map[string][]netip.Addr{
		"server.test": {at.Addr()},
		"mixed.test":  addrs("10.0.0.1", "fc00::1", at.Addr().String()),
	}
	for i, text := range specialAddresses {
		zone[fmt.Sprintf("host%d.test", i)] = addrs(text)
	}
	useResolver(t, dnsServer(t, zone))
	strict := newClient(t, outbound.Config{})
	for host, found := range zone {
		_, err := strict.Send(post(t, fmt.Sprintf("https://%s:%d/", host, at.Port())))
		wantKind(t, err, outbound.KindBlocked, fmt.Sprint(host, " at ", found))
	}
	_, err := strict.Send(post(t, "https://unknown.test/"))
	wantKind(t, err, outbound.KindDNS, "unknown.test")

	config.TLS, config.AnyCertificateOnLoopback = nil, true
	for _, host := range []string{"server.test", "mixed.test"} {
		if res := send(t, newClient(t, config), fmt.Sprintf("https://%s:%d/", host, at.Port())); res.Status != http.StatusOK {
			t.Errorf("%s: status %d, want 200", host, res.Status)
		}
	}
}

// A name with many addresses cannot make a delivery a scan, without Config.Dial either.
func TestSendTriesFewAddresses(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.1.1:0")
	if err != nil {
		t.Skip("cannot listen at 127.0.1.1: ", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	var found []netip.Addr
	for i := range 8 {
		found = append(found, netip.AddrFrom4([4]byte{127, 0, 0, byte(i + 1)})) // no process listens on this port
	}
	useResolver(t, dnsServer(t, map[string][]netip.Addr{"many.test": append(found, netip.MustParseAddr("127.0.1.1"))}))
	client := newClient(t, outbound.Config{Policy: outbound.Policy{AllowLoopback: true}})
	port := netip.MustParseAddrPort(listener.Addr().String()).Port()
	_, err = client.Send(post(t, fmt.Sprintf("https://many.test:%d/", port)))
	wantKind(t, err, outbound.KindConnect, "the ninth address")
}

// DLV-07: what a partner reads does not tell blocked from refused or unknown.
func TestPublicText(t *testing.T) {
	t.Parallel()
	for kind, want := range map[outbound.Kind]string{
		outbound.KindBlocked:  "connection failed",
		outbound.KindDNS:      "connection failed",
		outbound.KindConnect:  "connection failed",
		outbound.KindTLS:      "TLS handshake failed",
		outbound.KindResponse: "invalid response",
		outbound.KindTimeout:  "timed out",
		outbound.KindCanceled: "canceled",
	} {
		err := fmt.Errorf("attempt: %w", &outbound.Error{Kind: kind, Err: errors.New("10.0.0.1 port 22")})
		if got := outbound.PublicText(err); got != want {
			t.Errorf("PublicText(%s) = %q, want %q", kind, got, want)
		}
	}
	if got := outbound.PublicText(errors.New("10.0.0.1")); got != "connection failed" {
		t.Errorf("PublicText(foreign error) = %q", got)
	}
	if got := outbound.PublicText(nil); got != "" {
		t.Errorf("PublicText(nil) = %q", got)
	}
}

func newClient(t *testing.T, config outbound.Config) *outbound.Client {
	t.Helper()
	client, err := outbound.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdle)
	return client
}

func post(t *testing.T, raw string) *http.Request {
	t.Helper()
	return request(t, t.Context(), raw)
}

func request(t *testing.T, ctx context.Context, raw string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, raw, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func wantKind(t *testing.T, err error, want outbound.Kind, what string) {
	t.Helper()
	if e, ok := errors.AsType[*outbound.Error](err); !ok || e.Kind != want {
		t.Errorf("%s: error %v, want kind %s", what, err, want)
	}
}
