package outbound_test

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// FuzzParseURL checks that every accepted URL satisfies DLV-07. It uses its own lenient
// IPv4 parser, which reads every spelling that a C library accepts.
func FuzzParseURL(f *testing.F) {
	for _, host := range append([]string{
		"example.com", "example.com:8443", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "localhost", "LOCALHOST.",
		"[::1]", "foo@127.0.0.1", "127.0.0.1.nip.io", "a\\@b", "[::ffff:10.0.0.1]", "[fe80::1%25eth0]", "8.8.8.8",
		"0.0.0O0",
	}, specialAddresses...) {
		f.Add("https://" + host + "/hooks?x=1#y")
		f.Add("https://" + host)
		f.Add("http://" + host + "/")
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, policy := range []outbound.Policy{{}, {AllowLoopback: true}} {
			u, err := policy.ParseURL(raw)
			if err != nil {
				continue
			}
			if u.User != nil || u.Hostname() == "" || u.Fragment != "" || u.Opaque != "" {
				t.Errorf("ParseURL(%q) took %#v", raw, u)
			}
			if u.Scheme != "https" && (u.Scheme != "http" || !policy.AllowLoopback) {
				t.Errorf("ParseURL(%q) took scheme %q", raw, u.Scheme)
			}
			if addr, ok := looseAddr(u.Hostname()); ok && policy.Check(addr) != nil {
				t.Errorf("ParseURL(%q) took an address that Check refuses", raw)
			}
			again, err := policy.ParseURL(u.String())
			if err != nil || again.Host != u.Host || again.Scheme != u.Scheme {
				t.Errorf("ParseURL(%q) took it, and then not %q: %v", raw, u, err)
			}
		}
	})
}

// looseAddr reads an address as inet_aton would, and looser: one to four parts in any
// base, the last one filling up the rest.
func looseAddr(host string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr, true
	}
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var bits uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32)
		if err != nil || strings.Contains(part, "_") {
			return netip.Addr{}, false
		}
		width := 8
		if i == len(parts)-1 {
			width = 8 * (5 - len(parts))
		}
		bits = bits<<width | n
	}
	return netip.AddrFrom4([4]byte{byte(bits >> 24), byte(bits >> 16), byte(bits >> 8), byte(bits)}), true
}
