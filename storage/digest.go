package storage

import (
	"crypto/sha256"
	"crypto/subtle"
	"database/sql/driver"
	"fmt"
)

// Digest is the SHA-256 of a secret's text, which is stored in place of the secret. It can
// be a map key, an argument of a query and a destination of a scan. The zero value matches
// no secret.
type Digest [sha256.Size]byte

// Equal compares in constant time. Two zero digests are not equal: one that was never set
// must not match another.
func (d Digest) Equal(other Digest) bool {
	return d != Digest{} && subtle.ConstantTimeCompare(d[:], other[:]) == 1
}

// Bytes returns a copy of the digest as a slice.
func (d Digest) Bytes() []byte { return append([]byte(nil), d[:]...) }

// Value makes a Digest an argument of database/sql, as bytes.
func (d Digest) Value() (driver.Value, error) { return d.Bytes(), nil }

// Scan reads the bytes that Value wrote; anything else is an error.
func (d *Digest) Scan(src any) error {
	b, ok := src.([]byte)
	if !ok || len(b) != len(d) {
		return fmt.Errorf("storage: scan digest: want %d bytes, got %T", len(d), src)
	}
	copy(d[:], b)
	return nil
}
