package keyring

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// A sealed value is
//
//	version (1 byte) | length of the key id (1 byte) | key id | salt (16 bytes) | nonce (12) | ciphertext and tag (16)
//
// AES-256-GCM with a random nonce may seal 2^32 values under one key before a nonce
// is likely enough to repeat. Here each value has a key of its own, derived from the
// ring's key and the salt (HKDF-SHA256, RFC 5869), so there is no such number to
// watch. Everything before the nonce is authenticated together with the place.
const (
	version  = 1
	saltSize = 16
)

// Place identifies the column and row of a sealed value. It is not stored with the value: to open it,
// one has to know where it was meant to be.
type Place struct {
	Table  string // required
	Row    string // the row's id; required
	Column string // when a row holds several sealed values that must not be swapped
}

// Seal encrypts plaintext for one place with the first key. Sealing the same text
// twice gives different bytes.
func (r *Keyring) Seal(place Place, plaintext []byte) ([]byte, error) {
	if r == nil || len(r.keys) == 0 {
		return nil, ErrNoKeys
	}
	if err := place.check(); err != nil {
		return nil, err
	}
	key := r.keys[0]
	header := append([]byte{version, byte(len(key.id))}, key.id...)
	var salt [saltSize]byte
	_, _ = rand.Read(salt[:]) // never fails: Go stops the process first
	header = append(header, salt[:]...)

	aead, err := key.aead(salt[:])
	if err != nil {
		return nil, err
	}
	return aead.Seal(header, nil, plaintext, place.bind(header)), nil //nolint:gosec // G407: a nil nonce is how this AEAD is asked for a random one
}

// Open decrypts what Seal made for the same place. Errors are [ErrNoKeys],
// [ErrUnknownKey] with the id of the key that is missing, and [ErrCorrupted].
func (r *Keyring) Open(place Place, sealed []byte) ([]byte, error) {
	if r == nil || len(r.keys) == 0 {
		return nil, ErrNoKeys
	}
	if err := place.check(); err != nil {
		return nil, err
	}
	id, salt, header, ok := split(sealed)
	if !ok {
		return nil, ErrCorrupted
	}
	key, known := r.key(id)
	if !known {
		return nil, fmt.Errorf("%w: %q", ErrUnknownKey, id)
	}
	aead, err := key.aead(salt)
	if err != nil {
		return nil, err
	}
	plaintext, err := aead.Open(nil, nil, sealed[len(header):], place.bind(header))
	if err != nil {
		return nil, ErrCorrupted
	}
	return plaintext, nil
}

// NeedsReseal reports that a value was not sealed by the first key in the current
// format. It reads the header only: true does not say that the value can be opened.
func (r *Keyring) NeedsReseal(sealed []byte) bool {
	id, _, _, ok := split(sealed)
	return !ok || r == nil || len(r.keys) == 0 || r.keys[0].id != id
}

// split takes a sealed value apart; header is all that stands before the nonce.
func split(sealed []byte) (id string, salt, header []byte, ok bool) {
	if len(sealed) < 2 || sealed[0] != version {
		return "", nil, nil, false
	}
	end := 2 + int(sealed[1])
	if len(sealed) < end+saltSize {
		return "", nil, nil, false
	}
	return string(sealed[2:end]), sealed[end : end+saltSize], bytes.Clone(sealed[:end+saltSize]), true
}

// aead returns the cipher of one value. It puts a random nonce before the ciphertext.
func (k Key) aead(salt []byte) (cipher.AEAD, error) {
	derived, err := hkdf.Key(sha256.New, k.material(), salt, "partnerkit seal v1", KeySize)
	if err != nil {
		return nil, fmt.Errorf("keyring: derive: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, fmt.Errorf("keyring: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (p Place) check() error {
	if p.Table == "" || p.Row == "" {
		return errors.New("keyring: a place needs a table and a row")
	}
	return nil
}

// bind returns the additional data: the header, then each part of the place behind its
// length, so that no two places read the same.
func (p Place) bind(header []byte) []byte {
	data := bytes.Clone(header)
	for _, part := range []string{p.Table, p.Row, p.Column} {
		data = binary.BigEndian.AppendUint64(data, uint64(len(part)))
		data = append(data, part...)
	}
	return data
}
