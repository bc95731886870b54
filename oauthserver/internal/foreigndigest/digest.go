// Package foreigndigest checks client secrets of which only the digest of another server is
// known.
package foreigndigest

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/storage"
)

const (
	// maxBcryptCost and maxPBKDF2Rounds bound the work of checking a digest of another server's.
	maxBcryptCost   = 12
	maxPBKDF2Rounds = 600_000

	maxForeignDigest = 512
	maxForeignKey    = 64 // bytes
)

// Digest is a digest of a client secret that another server made.
type Digest struct {
	SHA256 *storage.Digest // which is as we keep digests
	bcrypt []byte
	hash   func() hash.Hash // of PBKDF2
	rounds int
	salt   []byte
	key    []byte
}

// Parse reads 64 hexadecimal digits (SHA-256), bcrypt's $2a$… and
// $pbkdf2-sha256$i=…,l=…$salt$key, also with sha512. Its error does not show the digest.
func Parse(text string) (Digest, error) {
	if len(text) > maxForeignDigest {
		return Digest{}, errors.New("is too long")
	}
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == sha256.Size {
		digest := storage.Digest(raw)
		return Digest{SHA256: &digest}, nil
	}
	if strings.HasPrefix(text, "$2") {
		cost, err := bcrypt.Cost([]byte(text))
		switch {
		case err != nil || len(text) != 60:
			return Digest{}, errors.New("is not a digest of bcrypt")
		case cost > maxBcryptCost:
			return Digest{}, fmt.Errorf("has the cost %d; at most %d is checked", cost, maxBcryptCost)
		}
		return Digest{bcrypt: []byte(text)}, nil
	}
	if strings.HasPrefix(text, "$pbkdf2-") {
		return parsePBKDF2(strings.Split(text[1:], "$"))
	}
	return Digest{}, errors.New("must be SHA-256 in 64 hexadecimal digits, bcrypt or PBKDF2")
}

// parsePBKDF2 reads pbkdf2-sha256, i=rounds,l=length, the salt and the key.
func parsePBKDF2(parts []string) (Digest, error) {
	malformed := errors.New("must have the form $pbkdf2-sha256$i=<rounds>,l=<length>$<salt>$<key>")
	if len(parts) != 4 {
		return Digest{}, malformed
	}
	d := Digest{}
	switch parts[0] {
	case "pbkdf2-sha256":
		d.hash = sha256.New
	case "pbkdf2-sha512":
		d.hash = sha512.New
	default:
		return Digest{}, malformed
	}
	rounds, length, ok := strings.Cut(parts[1], ",")
	rounds, hasRounds := strings.CutPrefix(rounds, "i=")
	length, hasLength := strings.CutPrefix(length, "l=")
	var err error
	if !ok || !hasRounds || !hasLength {
		return Digest{}, malformed
	}
	if d.rounds, err = strconv.Atoi(rounds); err != nil || d.rounds < 1 {
		return Digest{}, malformed
	}
	if d.rounds > maxPBKDF2Rounds {
		return Digest{}, fmt.Errorf("has %d rounds; at most %d are checked", d.rounds, maxPBKDF2Rounds)
	}
	n, err := strconv.Atoi(length)
	if err != nil {
		return Digest{}, malformed
	}
	if d.salt, err = base64.RawStdEncoding.DecodeString(parts[2]); err != nil {
		return Digest{}, malformed
	}
	if d.key, err = base64.RawStdEncoding.DecodeString(parts[3]); err != nil || len(d.key) != n || n < 16 || n > min(maxForeignKey, d.hash().Size()) {
		return Digest{}, malformed
	}
	return d, nil
}

// Matches checks a secret, which takes up to about half a second of processor time.
func (d Digest) Matches(presented string) bool {
	switch {
	case d.SHA256 != nil:
		return d.SHA256.Equal(secret.DigestOf(presented))
	case d.bcrypt != nil:
		return bcrypt.CompareHashAndPassword(d.bcrypt, []byte(presented)) == nil
	}
	key, err := pbkdf2.Key(d.hash, presented, d.salt, d.rounds, len(d.key))
	return err == nil && subtle.ConstantTimeCompare(key, d.key) == 1
}
