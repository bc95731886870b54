// Package pkce checks proof keys for code exchange (RFC 7636) with the method S256.
package pkce

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
)

const (
	base64URL  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	unreserved = base64URL + ".~"
)

// IsChallenge reports whether s has the form of an S256 challenge: 43 characters of
// base64url (section 4.2). It does not decode s, since package base64 ignores line breaks.
func IsChallenge(s string) bool { return len(s) == 43 && strings.Trim(s, base64URL) == "" }

// IsVerifier reports whether s has the syntax of a verifier: 43 to 128 unreserved
// characters (section 4.1).
func IsVerifier(s string) bool {
	return len(s) >= 43 && len(s) <= 128 && strings.Trim(s, unreserved) == ""
}

// Verify reports whether the challenge is the S256 challenge of the verifier.
func Verify(challenge, verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	want := base64.RawURLEncoding.EncodeToString(sum[:])
	return subtle.ConstantTimeCompare([]byte(challenge), []byte(want)) == 1
}
