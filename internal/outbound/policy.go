package outbound

import (
	"fmt"
	"net/netip"
)

// Policy decides where requests may go. The zero value is the strict one, for
// production: https to public addresses only. A Policy must not be changed after its
// first use, and is then safe for concurrent use.
type Policy struct {
	// AllowLoopback allows 127.0.0.0/8 and ::1, over https and http, for
	// development. It allows nothing else: not private networks, not 0.0.0.0,
	// not loopback wrapped in NAT64, 6to4 or Teredo.
	AllowLoopback bool

	// Refuse names further networks of the host, such as public ranges that are
	// reachable only from inside. They are refused before anything is allowed.
	Refuse []netip.Prefix
}

// Check reports whether a connection to addr may be opened: nil, or an [*Error]
// of kind [KindBlocked] that names the range and its source. It opens nothing.
//
// A zone is ignored. IPv4-mapped addresses (::ffff:0:0/96) are checked as the IPv4
// address that the kernel will dial, loopback included. NAT64 addresses
// (64:ff9b::/96) are checked by the IPv4 address inside, and never count as
// loopback. All other wrappings (IPv4-compatible, local-use NAT64, 6to4, Teredo)
// are refused, and so is IPv6 outside 2000::/3.
func (p Policy) Check(addr netip.Addr) error {
	addr = addr.WithZone("").Unmap()
	if !addr.IsValid() {
		return blocked("not an IP address")
	}
	for _, prefix := range p.Refuse {
		if prefix.Contains(addr) {
			return blocked("%s is in %s, which the host refuses", addr, prefix)
		}
	}
	if p.AllowLoopback && addr.IsLoopback() {
		return nil
	}
	if b, found := narrowestBlock(addr); found {
		return blocked("%s is in %s: %s (%s)", addr, b.prefix, b.name, b.source)
	}
	if nat64.Contains(addr) {
		return p.checkInside(addr)
	}
	if addr.Is6() && !globalUnicast.Contains(addr) {
		return blocked("%s is outside %s: not global unicast (RFC 4291)", addr, globalUnicast)
	}
	return nil
}

// checkInside checks the IPv4 address in the last 32 bits of a NAT64 address.
// The translator is another machine, so its loopback is never ours.
func (p Policy) checkInside(addr netip.Addr) error {
	b := addr.As16()
	inside := netip.AddrFrom4([4]byte(b[12:]))
	if err := (Policy{Refuse: p.Refuse}).Check(inside); err != nil {
		return blocked("%s is NAT64 (RFC 6052) around %s: %w", addr, inside, err)
	}
	return nil
}

// narrowestBlock finds the smallest refused range that contains addr.
func narrowestBlock(addr netip.Addr) (narrowest block, found bool) {
	for _, b := range refused {
		if b.prefix.Contains(addr) && (!found || b.prefix.Bits() > narrowest.prefix.Bits()) {
			narrowest, found = b, true
		}
	}
	return narrowest, found
}

func blocked(format string, args ...any) error {
	return &Error{Kind: KindBlocked, Err: fmt.Errorf(format, args...)}
}
