package secret

import (
	"crypto/rand"
	"errors"
	"strings"
	"unicode"
)

const (
	// userCodeLetters has no vowels, so that no words come out, and neither digits
	// nor Y, so that nothing looks like something else (RFC 8628 6.1).
	userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"

	userCodeLength = 8
	maxTyped       = 64 // bytes that are looked at before giving up
)

// ErrUserCode says that a text cannot be a user code, however it is spaced.
var ErrUserCode = errors.New("secret: not a user code")

// NewUserCode makes a code for people to type, as XXXX-XXXX: 8 of 20 letters, each
// equally likely, about 34 bits. It lives for minutes and guessing is throttled.
func NewUserCode() string {
	letters := make([]byte, 0, userCodeLength)
	for len(letters) < userCodeLength {
		var b [2 * userCodeLength]byte
		_, _ = rand.Read(b[:]) // never fails: Go stops the process first
		letters = appendLetters(letters, b[:])
	}
	return hyphenate(string(letters[:userCodeLength]))
}

// NormalizeUserCode turns what a person typed into the form that NewUserCode gave:
// case, spaces and hyphens do not matter. Anything else is [ErrUserCode].
func NormalizeUserCode(typed string) (string, error) {
	if len(typed) > maxTyped {
		return "", ErrUserCode
	}
	var letters strings.Builder
	for _, r := range typed {
		if unicode.IsSpace(r) || unicode.Is(unicode.Dash, r) {
			continue
		}
		if r >= 'a' && r <= 'z' {
			r -= 'a' - 'A'
		}
		if !strings.ContainsRune(userCodeLetters, r) {
			return "", ErrUserCode
		}
		letters.WriteRune(r)
	}
	if letters.Len() != userCodeLength {
		return "", ErrUserCode
	}
	return hyphenate(letters.String()), nil
}

// appendLetters maps random bytes to letters and leaves out those above the largest
// multiple of 20, which would favour the first letters.
func appendLetters(letters, random []byte) []byte {
	const fair = 256 - 256%len(userCodeLetters)
	for _, b := range random {
		if int(b) < fair {
			letters = append(letters, userCodeLetters[int(b)%len(userCodeLetters)])
		}
	}
	return letters
}

func hyphenate(letters string) string {
	return letters[:userCodeLength/2] + "-" + letters[userCodeLength/2:]
}
