package outbound_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// registryIPv4 is typed in from the IANA IPv4 registry, apart from the code's table.
var registryIPv4 = []string{
	"0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
	"172.16.0.0/12", "192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32",
	"192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24",
	"192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32",
	// Beyond the registry.
	"224.0.0.0/4", "168.63.129.16/32", "169.254.169.254/32",
}

// registryIPv6 likewise; ::ffff:0:0/96 and 64:ff9b::/96 are checked by what they wrap.
var registryIPv6 = []string{
	"::1/128", "::/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001::/32",
	"2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48",
	"2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48",
	"3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
	// Beyond the registry: multicast, IPv4-compatible, site-local, and all that
	// is not 2000::/3.
	"ff00::/8", "::/96", "fec0::/10",
	"200::/7", "400::/6", "800::/5", "1000::/4", "4000::/3", "6000::/3", "8000::/3", "a000::/3",
	"c000::/3", "e000::/4", "f000::/5", "f800::/6", "fe00::/9", "64:ff9b:0:1::/64", "64:ff9b:2::/48",
}

// DLV-07: every special-purpose block, at its first and its last address.
func TestCheckRefusesSpecialBlocks(t *testing.T) {
	t.Parallel()
	rows := 0
	for _, text := range append(append([]string{}, registryIPv4...), registryIPv6...) {
		block := netip.MustParsePrefix(text)
		for _, addr := range []netip.Addr{block.Addr(), last(block)} {
			rows++
			wantBlocked(t, outbound.Policy{}, addr)
		}
	}
	if rows < 100 {
		t.Errorf("%d rows; the table is meant to have at least 100", rows)
	}
}

// DLV-07: the same IPv4 addresses in each of their six wrappings.
func TestCheckRefusesWrappedAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range registryIPv4 {
		block := netip.MustParsePrefix(text)
		for _, inner := range []netip.Addr{block.Addr(), last(block)} {
			for name, wrap := range wrappings {
				t.Run(name+" "+inner.String(), func(t *testing.T) {
					t.Parallel()
					wantBlocked(t, outbound.Policy{}, wrap(inner))
					if name != "mapped" { // a mapped address is the address itself
						wantBlocked(t, outbound.Policy{AllowLoopback: true}, wrap(inner))
					}
				})
			}
		}
	}
}

func TestCheckAllowsPublicAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "93.184.216.34", "168.63.129.15", "168.63.129.17",
		// The neighbours of refused blocks.
		"1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
		"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0",
		"192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255",
		"198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255",
		"2000::", "2001:200::1", "2001:4860:4860::8888", "2001:db7:ffff::1", "2001:db9::1", "2003::1",
		"2606:4700:4700::1111", "2620:4f:7fff::1", "2620:4f:8001::1", "2a00:1450:4001::1",
		"3ffe:ffff::1", "3fff:1000::1",
		// Wrappings that are checked by what they hold.
		"::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
		// A zone means nothing on a public address.
		"2606:4700:4700::1111%eth0",
	} {
		addr := netip.MustParseAddr(text)
		if err := (outbound.Policy{}).Check(addr); err != nil {
			t.Errorf("Check(%s) = %v, want allowed", text, err)
		}
	}
}

// WH-01: the development option opens loopback and nothing else.
func TestCheckAllowLoopback(t *testing.T) {
	t.Parallel()
	open := outbound.Policy{AllowLoopback: true}
	for _, text := range []string{"127.0.0.1", "127.0.0.0", "127.255.255.255", "::1", "::ffff:127.0.0.1", "::1%lo"} {
		if err := open.Check(netip.MustParseAddr(text)); err != nil {
			t.Errorf("Check(%s) = %v, want allowed", text, err)
		}
		wantBlocked(t, outbound.Policy{}, netip.MustParseAddr(text))
	}
	for _, text := range append(append([]string{}, registryIPv4...), registryIPv6...) {
		block := netip.MustParsePrefix(text)
		for _, addr := range []netip.Addr{block.Addr(), last(block)} {
			if !addr.IsLoopback() {
				wantBlocked(t, open, addr)
			}
		}
	}
}

func TestCheckRefusesNetworksOfTheHost(t *testing.T) {
	t.Parallel()
	policy := outbound.Policy{AllowLoopback: true, Refuse: []netip.Prefix{
		netip.MustParsePrefix("8.8.8.0/24"), netip.MustParsePrefix("2a00::/16"), netip.MustParsePrefix("127.0.0.2/32"),
	}}
	for _, text := range []string{"8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2a00::1", "127.0.0.2"} {
		wantBlocked(t, policy, netip.MustParseAddr(text))
	}
	for _, text := range []string{"8.8.9.8", "127.0.0.1"} {
		if err := policy.Check(netip.MustParseAddr(text)); err != nil {
			t.Errorf("Check(%s) = %v, want allowed", text, err)
		}
	}
}

func TestCheckRefusesWhatIsNoAddress(t *testing.T) {
	t.Parallel()
	wantBlocked(t, outbound.Policy{AllowLoopback: true}, netip.Addr{})
	wantBlocked(t, outbound.Policy{AllowLoopback: true}, netip.MustParseAddr("fe80::1%eth0"))
}

// wrappings put an IPv4 address into IPv6 in every way there is a standard for.
var wrappings = map[string]func(netip.Addr) netip.Addr{
	"mapped":          func(a netip.Addr) netip.Addr { return tail("::ffff:0:0", a) },
	"compatible":      func(a netip.Addr) netip.Addr { return tail("::", a) },
	"NAT64":           func(a netip.Addr) netip.Addr { return tail("64:ff9b::", a) },
	"local-use NAT64": func(a netip.Addr) netip.Addr { return tail("64:ff9b:1::", a) },
	"6to4": func(a netip.Addr) netip.Addr {
		b := netip.MustParseAddr("2002::1").As16()
		inner := a.As4()
		copy(b[2:], inner[:])
		return netip.AddrFrom16(b)
	},
	"Teredo": func(a netip.Addr) netip.Addr { // the client's address, inverted (RFC 4380 4)
		b := netip.MustParseAddr("2001::").As16()
		for i, octet := range a.As4() {
			b[12+i] = ^octet
		}
		return netip.AddrFrom16(b)
	},
}

func tail(prefix string, inner netip.Addr) netip.Addr {
	b := netip.MustParseAddr(prefix).As16()
	four := inner.As4()
	copy(b[12:], four[:])
	return netip.AddrFrom16(b)
}

func last(block netip.Prefix) netip.Addr {
	b := block.Addr().AsSlice()
	for bit := block.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	addr, _ := netip.AddrFromSlice(b)
	return addr
}

func wantBlocked(t *testing.T, policy outbound.Policy, addr netip.Addr) {
	t.Helper()
	err := policy.Check(addr)
	if e, ok := errors.AsType[*outbound.Error](err); !ok || e.Kind != outbound.KindBlocked {
		t.Errorf("Check(%s) = %v, want blocked", addr, err)
	}
}
