package oauthserver

import (
	"crypto/subtle"
	"encoding/base64"

	"github.com/partnerkit/partnerkit/internal/secret"
)

// isChallenge reports whether s has the form of an S256 challenge: 43 characters
// of base64url (RFC 7636 section 4.2). It does not decode s, since package base64 ignores
// line breaks.
func isChallenge(s string) bool {
	if len(s) != 43 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// isVerifier reports whether s has the syntax of a verifier: 43 to 128 unreserved
// characters (RFC 7636 section 4.1).
func isVerifier(s string) bool {
	if len(s) < 43 || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '.', c == '_', c == '~':
		default:
			return false
		}
	}
	return true
}

// verifies reports whether the challenge was made of the verifier.
func verifies(challenge, verifier string) bool {
	sum := secret.DigestOf(verifier)
	var want [43]byte // of base64 for 32
	base64.RawURLEncoding.Encode(want[:], sum[:])
	return subtle.ConstantTimeCompare([]byte(challenge), want[:]) == 1
}
