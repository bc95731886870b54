package oauthserver

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/internal/secret"
)

// A client that lost the answer to a refresh may be allowed to ask again, and
// then gets the same tokens. The store keeps them for that, sealed with a key
// that only the presented token gives: without it they are as good as a digest.

// keptPair is what is sealed.
type keptPair struct {
	Access  string `json:"a"`
	Refresh string `json:"r"`
}

// seal hides the pair so that only who presents the token can see it again.
func (p pair) seal(presented secret.Secret, tokenID string) ([]byte, error) {
	plain, err := json.Marshal(keptPair{Access: p.access.Reveal(), Refresh: p.refresh.Reveal()})
	if err != nil {
		return nil, err
	}
	aead, err := retryAEAD(presented)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, plain, []byte(tokenID)), nil //nolint:gosec // it makes a random nonce itself
}

// unseal is the way back.
func unseal(presented secret.Secret, tokenID string, sealed []byte) (pair, error) {
	aead, err := retryAEAD(presented)
	if err != nil {
		return pair{}, err
	}
	plain, err := aead.Open(nil, nil, sealed, []byte(tokenID))
	if err != nil {
		return pair{}, err
	}
	var kept keptPair
	if err := json.Unmarshal(plain, &kept); err != nil {
		return pair{}, errors.New("a sealed answer is not what was sealed") // the cause would quote it
	}
	return pair{access: secret.Wrap(kept.Access), refresh: secret.Wrap(kept.Refresh)}, nil
}

// retryAEAD derives the key from the text of the token, of which the database
// has a digest only.
func retryAEAD(presented secret.Secret) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(presented.Reveal()), nil, "partnerkit refresh retry v1", 32)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
