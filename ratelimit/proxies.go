package ratelimit

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

const (
	// maxForwarded is how many entries of X-Forwarded-For are read, from the
	// right. No honest chain of proxies is longer.
	maxForwarded = 32

	// maxForwardedEntry is the length of the longest entry that is parsed, in bytes.
	// An IPv6 address with brackets, zone and port fits.
	maxForwardedEntry = 80
)

// Proxies finds the address of the client behind reverse proxies. The zero
// value trusts no proxy. It is immutable and safe for concurrent use.
type Proxies struct {
	trusted []netip.Prefix
}

// NewProxies returns Proxies that accept forwarded addresses from the trusted
// networks. It rejects invalid prefixes and prefixes of length zero: if all
// networks were trusted, every client could choose its address.
func NewProxies(trusted []netip.Prefix) (Proxies, error) {
	p := Proxies{trusted: make([]netip.Prefix, 0, len(trusted))}
	for _, prefix := range trusted {
		if !prefix.IsValid() {
			return Proxies{}, fmt.Errorf("trusted proxies: invalid prefix")
		}
		if addr := prefix.Addr(); addr.Is4In6() && prefix.Bits() >= 96 {
			prefix = netip.PrefixFrom(addr.Unmap(), prefix.Bits()-96)
		}
		if prefix.Bits() == 0 {
			return Proxies{}, fmt.Errorf("trusted proxies: %v would trust every client", prefix)
		}
		p.trusted = append(p.trusted, prefix.Masked())
	}
	return p, nil
}

// ClientIP returns the address of the client that sent r. It is always valid,
// without a zone, and never an IPv4 address in the disguise of IPv6.
//
// It is the address of the socket, unless that is a trusted proxy: then
// X-Forwarded-For is read from right to left, over all its lines, past trusted
// addresses, up to the first that is not trusted. Everything left of that was
// written by a client and is ignored. An entry that is not an address ends the
// search at the last trusted address. The search ends after 32 entries in any
// case. No other header is read.
//
// A RemoteAddr that is not an address, as with a Unix socket, counts as 0.0.0.0,
// the same client for all such requests. To trust a proxy that connects through a
// Unix socket, trust 0.0.0.0/32, an address that no client can connect from.
func (p Proxies) ClientIP(r *http.Request) netip.Addr {
	client, _ := parseAddr(r.RemoteAddr)
	client = plain(client)
	if !p.IsTrusted(client) {
		return client
	}
	lines := r.Header["X-Forwarded-For"]
	read := 0
	for i := len(lines) - 1; i >= 0; i-- {
		rest, more := lines[i], true
		for more {
			var entry string
			rest, entry, more = cutLast(rest)
			addr, ok := parseAddr(strings.Trim(entry, " \t"))
			if read++; !ok || read > maxForwarded {
				return client
			}
			client = plain(addr)
			if !p.IsTrusted(client) {
				return client
			}
		}
	}
	return client
}

// IsTrusted reports whether ip, the address of a socket, is that of a trusted proxy.
func (p Proxies) IsTrusted(ip netip.Addr) bool {
	ip = plain(ip)
	for _, prefix := range p.trusted {
		if prefix.Contains(ip) {
			return true
		}
	}
	return false
}

// cutLast splits a list at its last comma.
func cutLast(list string) (rest, last string, more bool) {
	i := strings.LastIndexByte(list, ',')
	if i < 0 {
		return "", list, false
	}
	return list[:i], list[i+1:], true
}

// parseAddr reads an address with or without port, IPv6 with or without
// brackets.
func parseAddr(s string) (netip.Addr, bool) {
	if len(s) > maxForwardedEntry {
		return netip.Addr{}, false
	}
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr(), true
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if s, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(s, ":") {
			return netip.Addr{}, false
		}
	}
	addr, err := netip.ParseAddr(s)
	return addr, err == nil
}
