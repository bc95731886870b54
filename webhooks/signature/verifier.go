package signature

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"time"
)

const (
	// DefaultTolerance is how far a signature may be from now, before or after.
	DefaultTolerance = 300 * time.Second
	// DefaultMaxBody is how many bytes a body may have.
	DefaultMaxBody = 1 << 20
)

// Config of a [Verifier]. Secrets are required; the zero value of everything else
// is its default.
type Config struct {
	// Secrets of the webhook as they were shown, whsec_ included: one, or the new
	// and the old one around a rotation. If one URL receives several webhooks, list
	// the secrets of all of them; each secret costs one more hash of the body.
	Secrets []string
	// Tolerance in both directions; 0 means [DefaultTolerance].
	Tolerance time.Duration
	// MaxBody of [Verifier.Handler], in bytes; 0 means [DefaultMaxBody].
	MaxBody int64
	// Now tells the time; nil means time.Now.
	Now func() time.Time
}

// Verifier verifies that a body was signed with one of its secrets. It is safe for
// concurrent use.
type Verifier struct {
	keys      []*key
	tolerance time.Duration
	maxBody   int64
	now       func() time.Time
}

// NewVerifier checks the configuration and returns a verifier.
func NewVerifier(cfg Config) (*Verifier, error) {
	if cfg.Tolerance < 0 || cfg.MaxBody < 0 {
		return nil, errors.New("signature: Config.Tolerance or Config.MaxBody is negative")
	}
	keys, err := newKeys(cfg.Secrets)
	if err != nil {
		return nil, err
	}
	v := &Verifier{keys: keys, tolerance: cmp.Or(cfg.Tolerance, DefaultTolerance), maxBody: cmp.Or(cfg.MaxBody, DefaultMaxBody), now: cfg.Now}
	if v.now == nil {
		v.now = time.Now
	}
	return v, nil
}

// Verify checks the raw bytes of a body against the value of [Header]. It accepts the body
// if any v1 was made with any of the secrets and t is within the tolerance, bounds
// included. The error is, or wraps, one of [ErrNoSignature], [ErrMalformed], [ErrNoMatch],
// [ErrTooOld] and [ErrTooNew].
func (v *Verifier) Verify(header string, body []byte) error {
	h, err := parseHeader(header)
	if err != nil {
		return err
	}
	return v.check(h, body)
}

func (v *Verifier) check(h header, body []byte) error {
	// Every secret is compared with every candidate, even after a match, so that the duration
	// reveals nothing.
	matches := 0
	for _, k := range v.keys {
		sum := k.sign("", h.t, body)
		for i := range h.signatures {
			matches |= subtle.ConstantTimeCompare(sum[:], h.signatures[i][:])
		}
	}
	age := v.now().Sub(time.Unix(h.t, 0))
	switch {
	case matches == 0:
		return ErrNoMatch
	case age > v.tolerance:
		return ErrTooOld
	case age < -v.tolerance:
		return ErrTooNew
	}
	return nil
}
