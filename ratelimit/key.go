package ratelimit

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/netip"
)

// Key names one counter or lockout. It is the beginning of a SHA-256 digest:
// its size does not depend on what a client sends, and a client cannot find an
// input that has the key of another client. Keys can be compared and stored.
type Key [16]byte

// NewKey returns the key of the parts under the name of a limit. Names keep
// limits apart, and so do the borders between parts: ("a", "bc") and
// ("ab", "c") are different keys. Inputs of up to about 250 bytes cost no
// allocation.
func NewKey(name string, parts ...string) Key {
	var space [256]byte
	return digest(append(space[:0], 'k'), name, parts)
}

// NewIPKey is NewKey with an address as its first part, counted as [Network]
// says: whole IPv6 networks are one client.
func NewIPKey(name string, ip netip.Addr, parts ...string) Key {
	var space [256]byte
	network := Network(ip)
	address := network.Addr().As16()
	b := append(space[:0], 'i', byte(network.Bits()))
	return digest(append(b, address[:]...), name, parts)
}

// Variant is another key for the same parts, as distinct from all others as keys are.
// It costs nothing, where a key costs a digest. Variant(0) is the key itself.
func (k Key) Variant(n byte) Key {
	k[len(k)-1] ^= n
	return k
}

// String returns the key in 22 characters of URL-safe base64.
func (k Key) String() string {
	return base64.RawURLEncoding.EncodeToString(k[:])
}

// digest writes each string behind its length, which makes the whole readable
// in one way only.
func digest(b []byte, name string, parts []string) Key {
	b = binary.AppendUvarint(b, uint64(len(name)))
	b = append(b, name...)
	for _, part := range parts {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	sum := sha256.Sum256(b)
	return Key(sum[:16])
}
