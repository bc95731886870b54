package outbound

import (
	"fmt"
	"net/netip"
)

// Policy says where requests may go. The zero value is the strict one, for
// production: https to public addresses only. A Policy is not changed after it
// is first used, and is then safe for concurrent use.
type Policy struct {
	// AllowLoopback opens 127.0.0.0/8 and ::1, over https and http, for
	// development. It opens nothing else: not private networks, not 0.0.0.0,
	// not loopback wrapped in NAT64, 6to4 or Teredo.
	AllowLoopback bool

	// Refuse names further networks of the host, such as public ranges that are
	// reachable only from inside. They are refused before anything is allowed.
	Refuse []netip.Prefix
}

// Judge reports whether a connection to addr may be opened: nil, or an [*Error]
// of kind [KindBlocked] that names the range and its source. It looks at the
// address alone and opens nothing.
//
// A zone is ignored. IPv4-mapped addresses (::ffff:0:0/96) are judged as the IPv4
// address that the kernel will dial, also when that is loopback. NAT64 addresses
// (64:ff9b::/96) are judged by the IPv4 address inside, and never count as
// loopback. All other wrappings (IPv4-compatible, local-use NAT64, 6to4, Teredo)
// are refused whatever they hold, and so is IPv6 outside 2000::/3.
func (p Policy) Judge(addr netip.Addr) error {
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
	if b, found := lookup(addr); found {
		return blocked("%s is in %s: %s (%s)", addr, b.prefix, b.name, b.source)
	}
	if nat64.Contains(addr) {
		return p.judgeInside(addr)
	}
	if addr.Is6() && !globalUnicast.Contains(addr) {
		return blocked("%s is outside %s: not global unicast (RFC 4291)", addr, globalUnicast)
	}
	return nil
}

// judgeInside judges the IPv4 address in the last 32 bits of a NAT64 address.
// The translator stands elsewhere, so its loopback is never ours.
func (p Policy) judgeInside(addr netip.Addr) error {
	b := addr.As16()
	inside := netip.AddrFrom4([4]byte(b[12:]))
	if err := (Policy{Refuse: p.Refuse}).Judge(inside); err != nil {
		return blocked("%s is NAT64 (RFC 6052) around %s: %w", addr, inside, err)
	}
	return nil
}

// lookup finds the narrowest row that holds addr, which says most to a reader.
func lookup(addr netip.Addr) (narrowest block, found bool) {
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
