package keyring

import (
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

var (
	// ErrNoKeys means that the keyring is empty: the zero value, nil, or New without keys.
	ErrNoKeys = errors.New("keyring: no keys")

	// ErrUnknownKey means that a value was sealed by a key that is not on the ring.
	ErrUnknownKey = errors.New("keyring: sealed by an unknown key")

	// ErrCorrupted means that a value is not what was sealed for this place: it was
	// changed, cut, moved, or sealed by other bytes under the same key id.
	ErrCorrupted = errors.New("keyring: corrupted or not sealed for this place")
)

// Keyring seals and opens. It never changes after New and is safe for concurrent
// use. The zero value and nil have no keys: every method that needs one returns
// [ErrNoKeys].
type Keyring struct {
	keys []Key
}

// New makes a keyring: the first key seals, all of them open. Keys without bytes
// and two keys with one id are refused.
func New(keys ...Key) (*Keyring, error) {
	if len(keys) == 0 {
		return nil, ErrNoKeys
	}
	ring := &Keyring{}
	for i, key := range keys {
		if key.material == nil {
			return nil, fmt.Errorf("keyring: key %d is empty", i+1)
		}
		if _, taken := ring.key(key.id); taken {
			return nil, fmt.Errorf("keyring: key %d has the id %s of an earlier one", i+1, key.id)
		}
		ring.keys = append(ring.keys, key)
	}
	return ring, nil
}

// Derive makes a key of 32 bytes for another purpose, such as signing cursors, from
// the first key. The same key and purpose give the same bytes; they tell nothing
// about the key or about those of another purpose. The purpose must not be empty.
func (r *Keyring) Derive(purpose string) ([]byte, error) {
	all, err := r.DeriveAll(purpose)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// DeriveAll is [Keyring.Derive] for every key on the ring, the first one first: make
// with the first, and accept what any of them made until the old keys are gone.
func (r *Keyring) DeriveAll(purpose string) ([][]byte, error) {
	if r == nil || len(r.keys) == 0 {
		return nil, ErrNoKeys
	}
	if purpose == "" {
		return nil, errors.New("keyring: derive: no purpose")
	}
	var all [][]byte
	for _, key := range r.keys {
		derived, err := hkdf.Key(sha256.New, key.material(), nil, "partnerkit derive v1: "+purpose, KeySize)
		if err != nil {
			return nil, fmt.Errorf("keyring: derive: %w", err)
		}
		all = append(all, derived)
	}
	return all, nil
}

// String names the keys by their ids.
func (r *Keyring) String() string {
	if r == nil {
		return "keyring []"
	}
	return fmt.Sprintf("keyring %v", r.keys)
}

// GoString names the keys by their ids.
func (r *Keyring) GoString() string { return r.String() }

// Format names the keys by their ids, for every verb.
func (r *Keyring) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// LogValue names the keys by their ids.
func (r *Keyring) LogValue() slog.Value { return slog.StringValue(r.String()) }

func (r *Keyring) key(id string) (Key, bool) {
	for _, key := range r.keys {
		if key.id == id {
			return key, true
		}
	}
	return Key{}, false
}
