// Package tokenpair creates access and refresh tokens, and seals them for a client that may
// repeat a refresh.
package tokenpair

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// Pair is an access token and a refresh token, which is zero if there is none. The tokens
// are valid once a Store has issued them.
type Pair struct {
	Access, Refresh secret.Secret
}

// New returns a new pair.
func New(now time.Time) Pair {
	return Pair{
		Access:  secret.NewToken(secret.AccessToken, id.New(id.Token, now)),
		Refresh: secret.NewToken(secret.RefreshToken, id.New(id.Token, now)),
	}
}

// Seal encrypts the pair with a key that is derived from the text of the presented refresh
// token. The database has only a digest of that token, so it cannot open the pair. tokenID
// is the id of the presented token. parameters are those of the request, which are kept with
// the pair.
func (p Pair) Seal(presented secret.Secret, tokenID, parameters string) ([]byte, error) {
	aead, err := newAEAD(presented)
	if err != nil {
		return nil, err
	}
	plain := []byte(p.Access.Reveal() + "\n" + p.Refresh.Reveal() + "\n" + parameters)
	return aead.Seal(nil, nil, plain, []byte(tokenID)), nil //nolint:gosec // the AEAD creates a random nonce itself
}

// Unseal decrypts a pair of [Pair.Seal] and returns it with the parameters.
func Unseal(presented secret.Secret, tokenID string, sealed []byte) (p Pair, parameters string, err error) {
	aead, err := newAEAD(presented)
	if err != nil {
		return Pair{}, "", err
	}
	plain, err := aead.Open(nil, nil, sealed, []byte(tokenID))
	if err != nil {
		return Pair{}, "", err
	}
	parts := strings.SplitN(string(plain), "\n", 3)
	if len(parts) != 3 {
		return Pair{}, "", errors.New("it has another form")
	}
	return Pair{Access: secret.Wrap(parts[0]), Refresh: secret.Wrap(parts[1])}, parts[2], nil
}

func newAEAD(presented secret.Secret) (cipher.AEAD, error) {
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
