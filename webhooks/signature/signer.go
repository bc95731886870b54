package signature

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
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

// The headers of Standard Webhooks (standardwebhooks.com).
const (
	standardID        = "Webhook-Id"
	standardTime      = "Webhook-Timestamp"
	standardSignature = "Webhook-Signature"
)

// SetStandard sets the headers of Standard Webhooks for a message with this id that is sent
// at t: webhook-id, webhook-timestamp and webhook-signature, with a signature of each
// secret. The key is the whole secret as text, "whsec_" included, as in [Signer.Sign].
// Receivers give it to their library as a raw secret, not as a base64 one.
func (s *Signer) SetStandard(h http.Header, id string, t time.Time, body []byte) {
	signatures := make([]string, len(s.keys))
	for i, k := range s.keys {
		sum := k.sign(id+".", t.Unix(), body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(sum[:])
	}
	h.Set(standardID, id)
	h.Set(standardTime, strconv.FormatInt(t.Unix(), 10))
	h.Set(standardSignature, strings.Join(signatures, " "))
}
