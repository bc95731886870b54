package sessiontoken

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/keyring"
)

const (
	// KeySetMaxAge is how long others may keep the published key set.
	KeySetMaxAge = 15 * time.Minute
	// maxListAge is how long a node uses the keys that it has read. A list of that age
	// is safe. A key signs LeadTime after it can be read, so no node signs with a key
	// that another node, or a verifier with a copy of the key set, has not read. A key
	// that has retired since is not used, because published removes it by the clock.
	maxListAge = 30 * time.Second
	// rereadAge is how old the list must be for an unknown key id, or a request for the
	// key set, to read the keys again: any number of them cost one reading a second.
	rereadAge = time.Second
)

// Key is a signing key in the store.
type Key struct {
	ID        string
	Sealed    []byte // the private key, sealed by the keyring
	CreatedAt time.Time
	ActiveAt  time.Time
	RetireAt  time.Time // zero for the newest key
}

// Store keeps signing keys.
type Store interface {
	// SigningKeys lists the keys that have not retired, oldest first.
	SigningKeys(ctx context.Context, now time.Time) ([]Key, error)
	// AddSigningKey adds a key and sets the time at which all older keys retire. It
	// does nothing if the store has a newer key than after, the newest key that the
	// caller has read, or "" for none.
	AddSigningKey(ctx context.Context, key Key, after string, retireOlder time.Time) error
	// ResealSigningKey replaces the sealed private key, if it is still was.
	ResealSigningKey(ctx context.Context, keyID string, was, sealed []byte) error
}

// Keys issues and verifies session tokens with the signing keys of a store. Its exported
// fields must not change after the first use. It is safe for concurrent use.
type Keys struct {
	Store    Store
	Keyring  *keyring.Keyring
	Issuer   string
	Lifetime time.Duration // of a session token

	list atomic.Pointer[keyList]
}

// keyList is the result of one reading of the store, oldest key first.
type keyList struct {
	keys   []keyPair
	readAt time.Time
}

type keyPair struct {
	Key
	private *ecdsa.PrivateKey
}

// Check returns nil if the keyring opens every signing key of the store. It creates the
// first key of an empty store.
func (k *Keys) Check(ctx context.Context, now time.Time) error {
	_, err := k.published(ctx, now, 0)
	return err
}

// KeySet returns the public keys that verify session tokens (RFC 7517), including those
// that do not sign yet and those that no longer sign.
func (k *Keys) KeySet(ctx context.Context, now time.Time) (jose.JSONWebKeySet, error) {
	keys, err := k.published(ctx, now, rereadAge)
	if err != nil {
		return jose.JSONWebKeySet{}, err
	}
	set := jose.JSONWebKeySet{Keys: make([]jose.JSONWebKey, 0, len(keys))}
	for _, key := range keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{
			Key: &key.private.PublicKey, KeyID: key.ID, Use: "sig", Algorithm: string(jose.ES256),
		})
	}
	return set, nil
}

// published returns the keys that have not retired, from a list younger than maxAge. There
// is at least one: the first key is created when it is first needed.
func (k *Keys) published(ctx context.Context, now time.Time, maxAge time.Duration) ([]keyPair, error) {
	list, err := k.read(ctx, now, maxAge)
	if err != nil {
		return nil, err
	}
	keys := slices.DeleteFunc(slices.Clone(list.keys), func(key keyPair) bool {
		return !key.RetireAt.IsZero() && !now.Before(key.RetireAt)
	})
	if len(keys) == 0 {
		return nil, errors.New("every signing key of the store has retired")
	}
	return keys, nil
}

// signer returns the key that signs now: the newest active one. If this node's clock is
// behind the clock of the node that created the first key, no key may be active yet. The
// first key then signs, since it was published when it was created.
func (k *Keys) signer(ctx context.Context, now time.Time) (keyPair, error) {
	keys, err := k.published(ctx, now, maxListAge)
	if err != nil {
		return keyPair{}, err
	}
	signer := keys[0]
	for _, key := range keys {
		if !key.ActiveAt.After(now) && !key.ActiveAt.Before(signer.ActiveAt) {
			signer = key
		}
	}
	return signer, nil
}

// verifier returns the public key with a key id, or nil. An unknown key may be newer than
// the list, so the store is read again, at most once per rereadAge.
func (k *Keys) verifier(ctx context.Context, keyID string, now time.Time) (*ecdsa.PublicKey, error) {
	if !id.Valid(id.SigningKey, keyID) {
		return nil, nil
	}
	for _, age := range []time.Duration{maxListAge, rereadAge} {
		keys, err := k.published(ctx, now, age)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			if key.ID == keyID {
				return &key.private.PublicKey, nil
			}
		}
	}
	return nil, nil
}

// read returns a list that is younger than maxAge. A clock that was set back makes the
// list old too.
func (k *Keys) read(ctx context.Context, now time.Time, maxAge time.Duration) (*keyList, error) {
	if list := k.list.Load(); list != nil && now.Sub(list.readAt).Abs() < maxAge {
		return list, nil
	}
	rows, err := k.rows(ctx, now)
	if err != nil {
		return nil, err
	}
	list := &keyList{readAt: now}
	for _, row := range rows {
		pair, err := k.open(row)
		if err != nil {
			return nil, err
		}
		list.keys = append(list.keys, pair)
	}
	k.list.Store(list)
	return list, nil
}

// open decrypts a key. One key that cannot be opened fails the whole list: verifiers would
// keep a key set without it and reject valid tokens.
func (k *Keys) open(row Key) (keyPair, error) {
	raw, err := k.Keyring.Open(place(row.ID), row.Sealed)
	if err != nil {
		return keyPair{}, fmt.Errorf("signing key %s: %w", row.ID, err)
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
	if err != nil {
		return keyPair{}, fmt.Errorf("signing key %s is not a P-256 key", row.ID)
	}
	return keyPair{Key: row, private: private}, nil
}

func place(keyID string) keyring.Place {
	return keyring.Place{Table: "partnerkit_signing_key", Row: keyID}
}
