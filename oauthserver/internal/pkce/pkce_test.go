package pkce_test

import (
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver/internal/pkce"
)

// The verifier and the challenge of RFC 7636 appendix B.
const (
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

func TestIsChallenge(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		strings.Repeat("a", 43): true, strings.Repeat("A", 43): true, strings.Repeat("_", 43): true, challenge: true,
		strings.Repeat("a", 42): false, strings.Repeat("a", 44): false, strings.Repeat("+", 43): false, strings.Repeat("=", 43): false, "": false,
		strings.Repeat("a", 42) + "\n": false, "\r" + strings.Repeat("a", 42): false, strings.Repeat("a", 43) + "\n": false,
		strings.Repeat("a", 21) + "." + strings.Repeat("a", 21): false,
	} {
		t.Run("AZ-07 "+text, func(t *testing.T) {
			t.Parallel()
			if got := pkce.IsChallenge(text); got != want {
				t.Errorf("%q: %v", text, got)
			}
		})
	}
}

func TestIsVerifier(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		verifier: true, strings.Repeat("~", 43): true, strings.Repeat(".", 128): true,
		strings.Repeat("a", 42): false, strings.Repeat("a", 129): false, strings.Repeat("+", 43): false, "": false,
		strings.Repeat("a", 43) + "\n": false, strings.Repeat("ä", 30): false, strings.Repeat("a", 30) + " " + strings.Repeat("a", 30): false,
	} {
		t.Run("CODE-05 "+text, func(t *testing.T) {
			t.Parallel()
			if got := pkce.IsVerifier(text); got != want {
				t.Errorf("%q: %v", text, got)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		challenge, verifier string
		want                bool
	}{
		{challenge, verifier, true},
		{challenge, verifier[1:], false},
		{challenge[1:], verifier, false},
		{verifier, verifier, false}, // the method plain
		{"", verifier, false},
		{"", "", false},
	} {
		if got := pkce.Verify(test.challenge, test.verifier); got != test.want {
			t.Errorf("CODE-05 challenge %q, verifier %q: %v", test.challenge, test.verifier, got)
		}
	}
}
