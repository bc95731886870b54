package oauthserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/keyring"
)

const (
	// keySetMaxAge is how long others may keep the published key set.
	keySetMaxAge = 15 * time.Minute
	// keyListAge is how long a node goes by the keys that it has read. A list of
	// that age is safe: a key signs only keyLeadTime after it can be read, so no
	// node signs with a key that another one, or a verifier with a copy of the
	// key set, has not heard of; and a key that is on the list though it has
	// retired since is not used, because lists are cut down by the clock.
	keyListAge = 30 * time.Second
	// keyRereadAge is how old the list must be for an unknown kid, or a request
	// for the key set, to cause another reading: however many of them come, they
	// cost a reading a second.
	keyRereadAge = time.Second
)

// signingKeys are the key pairs for session tokens. They live in the store,
// sealed; which of them signs and which are published depends on the clock only.
type signingKeys struct {
	store KeyStore
	ring  *keyring.Keyring
	list  atomic.Pointer[keyList]
}

// A keyList is what a reading of the store gave, oldest key first.
type keyList struct {
	keys   []keyPair
	readAt time.Time
}

type keyPair struct {
	SigningKey
	private *ecdsa.PrivateKey
}

// published returns the keys that a verifier may trust now, from a list younger
// than maxAge. There is always one: the first is made when it is first asked for.
func (k *signingKeys) published(ctx context.Context, now time.Time, maxAge time.Duration) ([]keyPair, error) {
	list, err := k.read(ctx, now, maxAge)
	if err != nil {
		return nil, err
	}
	keys := list.at(now)
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: every signing key of the store has retired", ErrInternal)
	}
	return keys, nil
}

// signer returns the key that signs now: the youngest whose time has come. A node
// whose clock is behind that of the one that made the first key may find that of
// none it has; the first key was published when it was made and does not wait.
func (k *signingKeys) signer(ctx context.Context, now time.Time) (keyPair, error) {
	keys, err := k.published(ctx, now, keyListAge)
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

// verifier returns the public key of a kid. An unknown one may be younger than
// the list, so the store is asked once more unless it was asked just now.
func (k *signingKeys) verifier(ctx context.Context, kid string, now time.Time) (*ecdsa.PublicKey, bool, error) {
	if !id.Valid(id.SigningKey, kid) {
		return nil, false, nil
	}
	for _, age := range []time.Duration{keyListAge, keyRereadAge} {
		keys, err := k.published(ctx, now, age)
		if err != nil {
			return nil, false, err
		}
		for _, key := range keys {
			if key.ID == kid {
				return &key.private.PublicKey, true, nil
			}
		}
	}
	return nil, false, nil
}

// read returns a list that is younger than maxAge, by the clock: after it was
// moved, the list is read again.
func (k *signingKeys) read(ctx context.Context, now time.Time, maxAge time.Duration) (*keyList, error) {
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

// at cuts the list down to what has not retired. The youngest never has.
func (l *keyList) at(now time.Time) []keyPair {
	return slices.DeleteFunc(slices.Clone(l.keys), func(key keyPair) bool {
		return !key.RetireAt.IsZero() && !now.Before(key.RetireAt)
	})
}

// open unseals a key. One that cannot be opened fails everything: a key set
// without it would be kept by verifiers, who would then refuse good tokens.
func (k *signingKeys) open(row SigningKey) (keyPair, error) {
	raw, err := k.ring.Open(signingKeyPlace(row.ID), row.Sealed)
	if err != nil {
		return keyPair{}, fmt.Errorf("%w: signing key %s: %w", ErrInternal, row.ID, err)
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
	if err != nil {
		return keyPair{}, fmt.Errorf("%w: signing key %s is no P-256 key", ErrInternal, row.ID)
	}
	return keyPair{SigningKey: row, private: private}, nil
}

func signingKeyPlace(keyID string) keyring.Place {
	return keyring.Place{Table: "partnerkit_signing_key", Row: keyID}
}

// CheckKeys reports whether the keyring opens the signing keys of the store, and makes
// the first one where there is none. A host asks before it says that it is ready: with
// the wrong keyring neither session tokens nor webhooks can be signed.
func (s *Server) CheckKeys(ctx context.Context) error {
	_, err := s.keys.published(ctx, s.cfg.Clock.Now(), 0)
	return err
}

// serveJWKS publishes the keys that session tokens are verified with (RFC 7517),
// those that will sign soon and those that signed until lately included.
func (s *Server) serveJWKS(w http.ResponseWriter, r *http.Request) error {
	keys, err := s.keys.published(r.Context(), s.cfg.Clock.Now(), keyRereadAge)
	if err != nil {
		return err
	}
	set := jose.JSONWebKeySet{Keys: make([]jose.JSONWebKey, 0, len(keys))}
	for _, key := range keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{
			Key: &key.private.PublicKey, KeyID: key.ID, Use: "sig", Algorithm: string(jose.ES256),
		})
	}
	w.Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%d", keySetMaxAge/time.Second))
	return apierror.WriteJSON(w, http.StatusOK, set)
}
