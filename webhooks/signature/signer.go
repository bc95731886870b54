package signature

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
)

// Signer signs the deliveries of one webhook. It is safe for concurrent use, and
// worth keeping: it hashes the secrets once.
type Signer struct {
	keys []*key
}

// NewSigner takes the secrets of a webhook, the newest first: one, or two after a
// rotation. It rejects no secrets at all, more than 8, and incomplete secrets.
func NewSigner(secrets ...string) (*Signer, error) {
	if len(secrets) > maxSignatures {
		return nil, fmt.Errorf("signature: %d secrets, want at most %d", len(secrets), maxSignatures)
	}
	keys, err := newKeys(secrets)
	if err != nil {
		return nil, err
	}
	return &Signer{keys: keys}, nil
}

// Sign returns the value of [Header] for a body that is sent at t. Sign each attempt again:
// receivers refuse an old t.
func (s *Signer) Sign(t time.Time, body []byte) string {
	text := make([]byte, 0, 160) // two signatures fit, and it stays on the stack
	text = append(text, "t="...)
	text = strconv.AppendInt(text, t.Unix(), 10)
	for _, k := range s.keys {
		sum := k.sign("", t.Unix(), body)
		text = append(text, ",v1="...)
		text = hex.AppendEncode(text, sum[:])
	}
	return string(text)
}
