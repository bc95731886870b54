package ratelimit

import "net/netip"

// Network returns the network that an address is counted under: an IPv4 address
// by itself, an IPv6 address as its /64, since that is the least that one
// subscriber gets. Two kinds of IPv6 address stand for an IPv4 address and are
// counted as that one, or else all of IPv4 would be a single client: the mapped
// (::ffff:0:0/96) and those of the well-known translation prefix (64:ff9b::/96,
// RFC 6052). Zones are dropped. The invalid address counts as 0.0.0.0.
func Network(ip netip.Addr) netip.Prefix {
	ip = plain(ip)
	if ip.Is6() {
		b := ip.As16()
		if [12]byte(b[:12]) == [12]byte{0x00, 0x64, 0xff, 0x9b} {
			ip = netip.AddrFrom4([4]byte(b[12:]))
		}
	}
	if ip.Is4() {
		return netip.PrefixFrom(ip, 32)
	}
	return netip.PrefixFrom(ip, 64).Masked()
}

// plain returns the one form of an address that is compared and counted.
func plain(ip netip.Addr) netip.Addr {
	if !ip.IsValid() {
		return netip.IPv4Unspecified()
	}
	return ip.Unmap().WithZone("")
}
