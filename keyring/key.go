package keyring

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

const (
	// KeySize is the length of every key, in bytes.
	KeySize = 32

	maxID = 64 // bytes of a key's id
)

// Key is one key with the id that sealed values name it by. It prints and logs as
// its id. The zero value is not a key, and [New] rejects it.
type Key struct {
	id string

	// A function, so that no printer, not even one that follows pointers, gets
	// to see the bytes.
	material func() []byte
}

// NewKey takes a key of [KeySize] bytes under an id of 1 to 64 letters, digits,
// dots, hyphens and underscores. An empty id means one made from the key's SHA-256:
// short, stable, and of no help in guessing the key. The bytes are copied.
func NewKey(id string, material []byte) (Key, error) {
	if len(material) != KeySize {
		return Key{}, fmt.Errorf("keyring: a key has %d bytes, want %d", len(material), KeySize)
	}
	if id == "" {
		sum := sha256.Sum256(append([]byte("partnerkit key id\x00"), material...))
		id = hex.EncodeToString(sum[:8])
	}
	if len(id) > maxID || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_") != "" {
		return Key{}, errors.New("keyring: a key id has 1 to 64 letters, digits, dots, hyphens and underscores")
	}
	kept := [KeySize]byte(material)
	return Key{id: id, material: func() []byte { return kept[:] }}, nil
}

// ID returns the name that sealed values carry. It is not a secret.
func (k Key) ID() string { return k.id }

// String names the key by its id.
func (k Key) String() string { return "key " + k.id }

// GoString names the key by its id.
func (k Key) GoString() string { return k.String() }

// Format names the key by its id, for every verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// LogValue names the key by its id.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// Parse reads a keyring from a flag or an environment variable: base64 of 32 bytes,
// several separated by commas, the sealing one first. Standard and URL alphabets are
// both fine, with or without padding. Ids are made from the keys. Errors name
// the wrong key by its position and never show it.
func Parse(text string) (*Keyring, error) {
	var keys []Key
	for part := range strings.SplitSeq(text, ",") {
		key, err := parseKey(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("keyring: key %d: %w", len(keys)+1, err)
		}
		keys = append(keys, key)
	}
	return New(keys...)
}

func parseKey(text string) (Key, error) {
	if text == "" {
		return Key{}, errors.New("is empty; want base64 of 32 bytes")
	}
	plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	material, err := base64.RawStdEncoding.DecodeString(plain)
	if err != nil {
		return Key{}, errors.New("is not base64") // err would tell where, and so what is around
	}
	if len(material) != KeySize {
		return Key{}, fmt.Errorf("has %d bytes, want %d", len(material), KeySize)
	}
	return NewKey("", material)
}
