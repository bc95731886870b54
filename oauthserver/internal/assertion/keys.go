package assertion

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"github.com/partnerkit/partnerkit/internal/strictjson"
)

const (
	// MaxKeysBytes is the maximum length of a set of keys in bytes.
	MaxKeysBytes = 64 << 10
	// maxKeys bounds the work for an assertion without a key id, for which every key is
	// tried.
	maxKeys = 50

	minRSABits, maxRSABits = 2048, 8192
)

// Keys are the public keys of a client.
type Keys struct{ keys []jose.JSONWebKey }

// ParseKeys reads a JWK Set (RFC 7517). Keys that no accepted algorithm uses are skipped. A set
// is not valid if it has a private or a symmetric key, whose owner has lost it, more than 50
// keys, or none that can be used. The error completes a sentence that begins with the name of
// the set.
func ParseKeys(raw []byte) (Keys, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := strictjson.Unmarshal(raw, &set, strictjson.Limits{MaxBytes: MaxKeysBytes, IgnoreUnknown: true}); err != nil {
		return Keys{}, errors.New("is not a JWK Set")
	}
	if len(set.Keys) > maxKeys {
		return Keys{}, fmt.Errorf("has more than %d keys", maxKeys)
	}
	var keys Keys
	for _, one := range set.Keys {
		var members map[string]json.RawMessage
		if json.Unmarshal(one, &members) != nil {
			return Keys{}, errors.New("is not a JWK Set")
		}
		for _, secret := range []string{"d", "k", "p", "q", "dp", "dq", "qi", "oth"} {
			if _, found := members[secret]; found {
				return Keys{}, errors.New("has a key that is not public")
			}
		}
		var key jose.JSONWebKey
		if json.Unmarshal(one, &key) == nil && isUsable(key) {
			keys.keys = append(keys.keys, key)
		}
	}
	if len(keys.keys) == 0 {
		return Keys{}, errors.New("has no key for any of the supported algorithms")
	}
	return keys, nil
}

// Has reports whether a key has the id.
func (k Keys) Has(keyID string) bool {
	return slices.ContainsFunc(k.keys, func(key jose.JSONWebKey) bool { return key.KeyID == keyID })
}

// isUsable reports whether a key fits an accepted algorithm.
func isUsable(key jose.JSONWebKey) bool {
	return key.Valid() && key.IsPublic() && slices.ContainsFunc(algorithms, func(a jose.SignatureAlgorithm) bool { return fits(key, a) })
}

// fits reports whether signatures of the algorithm can be verified with a key. The type of the
// key, its curve and what it says about its use must all agree with the algorithm.
func fits(key jose.JSONWebKey, algorithm jose.SignatureAlgorithm) bool {
	if key.Use != "" && key.Use != "sig" || key.Algorithm != "" && key.Algorithm != string(algorithm) {
		return false
	}
	switch public := key.Key.(type) {
	case *ecdsa.PublicKey:
		return algorithm == jose.ES256 && public.Curve == elliptic.P256()
	case *rsa.PublicKey:
		bits := public.N.BitLen()
		return (algorithm == jose.RS256 || algorithm == jose.PS256) && bits >= minRSABits && bits <= maxRSABits
	case ed25519.PublicKey:
		return algorithm == jose.EdDSA
	}
	return false
}
