package consent

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/partnerkit/partnerkit/identity"
)

// csrfField is the hidden field that proves that a form is one of ours.
const csrfField = "csrf_token"

// csrfBinding is all that a form belongs to. Its token is worth nothing in
// another session or for another decision.
type csrfBinding struct {
	session identity.Session
	subject string // the request or the user code that is decided
}

// csrfToken makes the token of a form.
func (s *Server) csrfToken(b csrfBinding) (string, error) {
	key, err := s.cfg.Keyring.Derive(csrfPurpose)
	if err != nil {
		return "", fmt.Errorf("csrf key: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b.mac(key)), nil
}

// checkCSRF refuses a form that was not made for this binding. Any key of the
// ring will do, so that rotating keys breaks no page that is open.
func (s *Server) checkCSRF(b csrfBinding, presented string) error {
	if presented == "" {
		return invalid(csrfField, "is missing")
	}
	keys, err := s.cfg.Keyring.DeriveAll(csrfPurpose)
	if err != nil {
		return fmt.Errorf("csrf keys: %w", err)
	}
	for _, key := range keys { // as text: package base64 ignores line breaks when it decodes
		if hmac.Equal([]byte(presented), []byte(base64.RawURLEncoding.EncodeToString(b.mac(key)))) {
			return nil
		}
	}
	return errForeignToken
}

const csrfPurpose = "oauthserver decision forms"

// mac writes each part behind its length, so that no two bindings look alike.
func (b csrfBinding) mac(key []byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, part := range []string{b.session.ID, b.session.UserID, b.subject} {
		h.Write(binary.AppendUvarint(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return h.Sum(nil)
}
