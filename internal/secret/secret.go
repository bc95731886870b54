package secret

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
)

const (
	size   = 32 // bytes of randomness
	length = 43 // the same in unpadded base64

	// placeholder is printed in place of a secret.
	placeholder = "[secret]"
)

// ErrMalformed means that a presented text does not have the form of the requested kind.
var ErrMalformed = errors.New("secret: malformed or of another kind")

// Secret is a text that shows only when asked: fmt with any verb, slog and
// encoding/json get a placeholder. Two secrets are compared by [Secret.Equal]; ==
// does not compile. The zero value is no secret, and equals none.
type Secret struct {
	// text is a function because fmt cannot call the methods of Secret on an
	// unexported field of another struct and prints the content of the field. Other
	// printers follow pointers. No printer looks into a function. A function also
	// rules out ==, which would stop at the first byte that differs.
	text func() string
}

// New makes a secret of 256 random bits, in [A-Za-z0-9_-] like every prefix, so that
// it passes through headers, forms and URLs as it is. A webhook's is in standard base64, which
// the libraries of receivers expect. An access or refresh token gets the
// id of a new record; use [NewToken] for a record that has one.
func New(kind Kind) Secret {
	if slices.Contains(located, kind) {
		return NewToken(kind, id.New(id.Token, time.Now()))
	}
	return made(kind, "")
}

// NewToken makes an access or refresh token for a record with this id. The token carries
// it before its random bits, so that the record is found by its primary key; ids sort
// by time, so those of tokens in use lie together, where digests lie all over an index.
func NewToken(kind Kind, tokenID string) Secret {
	return made(kind, strings.TrimPrefix(tokenID, string(id.Token)))
}

func encodingOf(kind Kind) *base64.Encoding {
	if kind == WebhookSecret {
		return base64.StdEncoding
	}
	return base64.RawURLEncoding
}

func made(kind Kind, located string) Secret {
	var b [size]byte
	_, _ = rand.Read(b[:]) // never fails: Go stops the process first
	var text [128]byte
	return Wrap(string(encodingOf(kind).AppendEncode(append(append(text[:0], kind...), located...), b[:])))
}

// Parse takes a presented text as a secret of one kind, or returns [ErrMalformed]. It
// is the cheap refusal before any lookup.
func Parse(kind Kind, presented string) (Secret, error) {
	body, ok := strings.CutPrefix(presented, string(kind))
	if !ok || !wellFormed(kind, body) {
		return Secret{}, ErrMalformed
	}
	return Wrap(presented), nil
}

// Wrap hides a text that was made elsewhere, such as a client secret of the host.
func Wrap(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: func() string { return text }}
}

// Reveal gives the text itself: for the one response that shows it, and for signing.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return s.text()
}

// TokenID returns the id that an access or refresh token carries. It is empty for other
// secrets.
func (s Secret) TokenID() string {
	for _, kind := range located {
		if body, ok := strings.CutPrefix(s.Reveal(), string(kind)); ok && len(body) == id.Length+length {
			return string(id.Token) + body[:id.Length]
		}
	}
	return ""
}

// IsZero reports that there is no secret.
func (s Secret) IsZero() bool { return s.text == nil }

// Digest returns the digest that stores keep and look up in place of the secret.
func (s Secret) Digest() Digest { return DigestOf(s.Reveal()) }

// Equal compares in a time that does not depend on where the two differ. A zero
// Secret equals nothing, not even another.
func (s Secret) Equal(other Secret) bool {
	return !s.IsZero() && !other.IsZero() && s.Digest().Equal(other.Digest())
}

// String returns a placeholder.
func (s Secret) String() string { return placeholder }

// GoString returns a placeholder.
func (s Secret) GoString() string { return placeholder }

// Format prints a placeholder for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, placeholder) }

// LogValue returns a placeholder.
func (s Secret) LogValue() slog.Value { return slog.StringValue(placeholder) }

// MarshalText gives a placeholder, also to encoding/json and encoding/xml.
func (s Secret) MarshalText() ([]byte, error) { return []byte(placeholder), nil }

// MarshalJSON gives a placeholder: a response that shows a secret says so with Reveal.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + placeholder + `"`), nil }

// wellFormed checks the text after the prefix.
func wellFormed(kind Kind, body string) bool {
	if kind == WebhookSecret {
		decoded, err := base64.StdEncoding.Strict().DecodeString(body)
		return err == nil && len(decoded) == size
	}
	want := length
	if slices.Contains(located, kind) {
		want += id.Length
	}
	if len(body) != want {
		return false
	}
	for _, c := range []byte(body) {
		switch {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
