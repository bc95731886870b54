package consent

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/keyring"
)

// sealedField names a valid request of a user who is not signed in, in the address that the
// sign-in returns to. It has the time of the request and its query. Sealed rather than sent
// beside a signature, the query reaches us as it was, however a sign-in page encodes the
// address again.
const sealedField = "sealed_request"

// sealedRequest is a presented value of sealedField.
type sealedRequest struct {
	text  string
	bytes []byte
}

// sealedPlace binds a sealed request to the browser that opened it.
func sealedPlace(browser secret.Secret) keyring.Place {
	return keyring.Place{Table: "sealed authorization request", Row: hex.EncodeToString(browser.Digest().Bytes())}
}

// returnTo returns the address at which the request continues after sign-in.
func (s *Server) returnTo(browser secret.Secret, a unstoredRequest) (string, error) {
	const path = authorizePath + "?" + sealedField + "="
	if a.sealed != nil {
		return path + a.sealed.text, nil
	}
	plain := binary.BigEndian.AppendUint64(nil, uint64(a.openedAt.UnixMilli())) //nolint:gosec // a time after 1970
	sealed, err := s.cfg.Keyring.Seal(sealedPlace(browser), append(plain, a.raw...))
	return path + base64.RawURLEncoding.EncodeToString(sealed), err
}

// openSealed returns the request that this browser was sent to sign in with.
func (s *Server) openSealed(r *http.Request, query authorizeQuery) (unstoredRequest, error) {
	presented, problem := query.one(sealedField)
	browser := s.browser(r)
	if problem != nil || browser.IsZero() {
		return unstoredRequest{}, errRequest
	}
	sealed, err := base64.RawURLEncoding.DecodeString(presented)
	if err != nil {
		return unstoredRequest{}, errRequest
	}
	plain, err := s.cfg.Keyring.Open(sealedPlace(browser), sealed)
	switch {
	case errors.Is(err, keyring.ErrNoKeys):
		return unstoredRequest{}, err
	case err != nil || len(plain) < 8:
		return unstoredRequest{}, errRequest
	}
	a := unstoredRequest{raw: string(plain[8:]), openedAt: time.UnixMilli(int64(binary.BigEndian.Uint64(plain))), sealed: &sealedRequest{presented, sealed}} //nolint:gosec // as it was sealed
	a.query, a.problem = parseAuthorizeQuery(a.raw)
	return a, nil
}

// secret returns the secret by which the stored request is found. That of a sealed request
// depends on its bytes alone, so that the request is stored once however often its address is
// opened, and decided once.
func (a unstoredRequest) secret() secret.Secret {
	if a.sealed == nil {
		return secret.New(secret.ConsentRequest)
	}
	sum := sha256.Sum256(a.sealed.bytes)
	return secret.Wrap(string(secret.ConsentRequest) + base64.RawURLEncoding.EncodeToString(sum[:]))
}
