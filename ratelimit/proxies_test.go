package ratelimit_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/ratelimit"
)

func prefixes(list ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, s := range list {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

// TestClientIP proves OLIM-05.
func TestClientIP(t *testing.T) {
	t.Parallel()
	proxies, err := ratelimit.NewProxies(prefixes("10.0.0.0/8", "2001:db8:ffff::/48", "::ffff:172.16.0.0/108"))
	if err != nil {
		t.Fatal(err)
	}
	const proxy = "10.0.0.1:443"
	tests := []struct {
		name      string
		socket    string
		forwarded []string
		want      string
	}{
		{"no proxy", "192.0.2.1:5000", nil, "192.0.2.1"},
		{"IPv6 socket", "[2001:db8::1]:5000", nil, "2001:db8::1"},
		{"mapped socket", "[::ffff:192.0.2.1]:5000", nil, "192.0.2.1"},
		{"zone", "[fe80::1%eth0]:5000", nil, "fe80::1"},
		{"a spoofed header changes nothing", "192.0.2.1:5000", []string{"198.51.100.1"}, "192.0.2.1"},
		{"proxy without header", proxy, nil, "10.0.0.1"},
		{"one proxy", proxy, []string{"192.0.2.1"}, "192.0.2.1"},
		{"mapped proxy", "[::ffff:10.0.0.1]:443", []string{"192.0.2.1"}, "192.0.2.1"},
		{"proxy of a mapped prefix", "172.16.0.1:443", []string{"192.0.2.1"}, "192.0.2.1"},
		{"IPv6 proxy", "[2001:db8:ffff::1]:443", []string{"192.0.2.1"}, "192.0.2.1"},
		{"what the client wrote is not read", proxy, []string{"198.51.100.1, 192.0.2.1"}, "192.0.2.1"},
		{"two proxies", proxy, []string{"198.51.100.1, 192.0.2.1, 10.9.9.9"}, "192.0.2.1"},
		{"several lines", proxy, []string{"198.51.100.1", "192.0.2.1", "10.9.9.9, 10.8.8.8"}, "192.0.2.1"},
		{"all trusted", proxy, []string{"10.3.3.3, 10.2.2.2"}, "10.3.3.3"},
		{"spaces and tabs", proxy, []string{" \t192.0.2.1\t , 10.2.2.2 "}, "192.0.2.1"},
		{"port", proxy, []string{"192.0.2.1:9999"}, "192.0.2.1"},
		{"brackets", proxy, []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"brackets and port", proxy, []string{"[2001:db8::1]:9999"}, "2001:db8::1"},
		{"bare IPv6", proxy, []string{"2001:db8::1"}, "2001:db8::1"},
		{"forwarded zone", proxy, []string{"fe80::1%eth0"}, "fe80::1"},
		{"forwarded mapped", proxy, []string{"::ffff:192.0.2.1"}, "192.0.2.1"},
		{"forwarded mapped proxy", proxy, []string{"192.0.2.1, ::ffff:10.2.2.2"}, "192.0.2.1"},
		{"empty header", proxy, []string{""}, "10.0.0.1"},
		{"malformed", proxy, []string{"192.0.2.1, unknown"}, "10.0.0.1"},
		{"malformed behind a proxy", proxy, []string{"192.0.2.1, unknown, 10.2.2.2"}, "10.2.2.2"},
		{"empty entry", proxy, []string{"192.0.2.1,,10.2.2.2"}, "10.2.2.2"},
		{"empty line", proxy, []string{"192.0.2.1", "", "10.2.2.2"}, "10.2.2.2"},
		{"leading zeros", proxy, []string{"192.0.02.1"}, "10.0.0.1"},
		{"IPv4 in brackets", proxy, []string{"[192.0.2.1]"}, "10.0.0.1"},
		{"half a bracket", proxy, []string{"[2001:db8::1"}, "10.0.0.1"},
		{"bad port", proxy, []string{"192.0.2.1:99999"}, "10.0.0.1"},
		{"prefix", proxy, []string{"192.0.2.0/24"}, "10.0.0.1"},
		{"too long", proxy, []string{"fe80::1%" + strings.Repeat("z", 80)}, "10.0.0.1"},
		{"32 entries", proxy, []string{"192.0.2.1" + strings.Repeat(",10.2.2.2", 31)}, "192.0.2.1"},
		{"33 entries", proxy, []string{"192.0.2.1" + strings.Repeat(",10.2.2.2", 32)}, "10.2.2.2"},
		{"unix socket", "@", []string{"192.0.2.1"}, "0.0.0.0"},
		{"no RemoteAddr", "", []string{"192.0.2.1"}, "0.0.0.0"},
	}
	for _, tt := range tests {
		r := &http.Request{RemoteAddr: tt.socket, Header: http.Header{"X-Forwarded-For": tt.forwarded}}
		r.Header.Set("X-Real-Ip", "198.51.100.9")
		r.Header.Set("Forwarded", "for=198.51.100.9")
		if got := proxies.ClientIP(r).String(); got != tt.want {
			t.Errorf("%s: ClientIP = %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestClientIPBehindUnixSocket(t *testing.T) {
	t.Parallel()
	proxies, err := ratelimit.NewProxies(prefixes("0.0.0.0/32"))
	if err != nil {
		t.Fatal(err)
	}
	r := &http.Request{RemoteAddr: "@", Header: http.Header{"X-Forwarded-For": {"192.0.2.1"}}}
	if got := proxies.ClientIP(r).String(); got != "192.0.2.1" {
		t.Errorf("ClientIP = %s", got)
	}
}

func TestNewProxiesRefuses(t *testing.T) {
	t.Parallel()
	unsafe := append(prefixes("0.0.0.0/0", "::/0", "10.0.0.0/0", "::ffff:0.0.0.0/96"), netip.Prefix{})
	for _, prefix := range unsafe {
		if _, err := ratelimit.NewProxies([]netip.Prefix{prefix}); err == nil {
			t.Errorf("%v: no error", prefix)
		}
	}
}

// FuzzClientIP: for any input the address is valid and plain, and without a trusted
// proxy it is the socket's address (OLIM-05).
func FuzzClientIP(f *testing.F) {
	f.Add("192.0.2.1:5000", "198.51.100.1", "")
	f.Add("10.0.0.1:443", "198.51.100.1, 192.0.2.1:80", "10.1.1.1,[2001:db8::1]:443")
	f.Add("[::ffff:10.0.0.1]:443", "::ffff:192.0.2.1", "fe80::1%eth0")
	f.Add("10.0.0.1:443", "unknown,,", "[")
	f.Add("@", ",", "\x00")
	trusting, err := ratelimit.NewProxies(prefixes("10.0.0.0/8", "fe80::/10"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, socket, line1, line2 string) {
		bare := &http.Request{RemoteAddr: socket}
		r := &http.Request{RemoteAddr: socket, Header: http.Header{"X-Forwarded-For": {line1, line2}}}
		alone := ratelimit.Proxies{}.ClientIP(bare)
		if got := (ratelimit.Proxies{}).ClientIP(r); got != alone {
			t.Errorf("nobody is trusted, but the header changed %v to %v", alone, got)
		}
		got := trusting.ClientIP(r)
		if !got.IsValid() || got.Is4In6() || got.Zone() != "" {
			t.Errorf("ClientIP = %#v", got)
		}
		isProxy := netip.MustParsePrefix("10.0.0.0/8").Contains(alone) || netip.MustParsePrefix("fe80::/10").Contains(alone)
		if !isProxy && got != alone {
			t.Errorf("%v is not trusted, but the header changed it to %v", alone, got)
		}
		if network := ratelimit.Network(got); !network.IsValid() || network != network.Masked() {
			t.Errorf("Network(%v) = %v", got, network)
		}
	})
}

func TestIsTrusted(t *testing.T) {
	t.Parallel()
	p, err := ratelimit.NewProxies([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "2001:db8::1": true, "2001:db8::1%eth0": true, "11.1.2.3": false, "::1": false,
	} {
		if p.IsTrusted(netip.MustParseAddr(address)) != want {
			t.Errorf("%s: trusted %v", address, !want)
		}
	}
	if (ratelimit.Proxies{}).IsTrusted(netip.Addr{}) {
		t.Error("no address is trusted by the zero value")
	}
}
