package webhooks

import (
	"bytes"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// maxSigners is how many webhooks' secrets are kept open in memory.
const maxSigners = 10_000

// signers remembers signers, since to open a secret costs more than to sign.
type signers struct {
	open func(webhookID string, s partner.Secrets, now time.Time) ([]signingSecret, error)

	mu   sync.Mutex
	byID map[string]signing
}

type signing struct {
	secrets partner.Secrets
	isBoth  bool // the previous secret signs too
	signer  *signature.Signer
	keys    [][]byte // of Standard Webhooks
}

// of returns what signs for a webhook at a time.
func (s *signers) of(webhookID string, secrets partner.Secrets, now time.Time) (signing, error) {
	isBoth := secrets.Previous != nil && now.Before(secrets.PreviousExpiresAt)
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.byID[webhookID]
	if ok && known.isBoth == isBoth && bytes.Equal(known.secrets.Secret, secrets.Secret) && bytes.Equal(known.secrets.Previous, secrets.Previous) {
		return known, nil
	}
	all, err := s.open(webhookID, secrets, now)
	if err != nil {
		return signing{}, err
	}
	known = signing{secrets: secrets, isBoth: isBoth}
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i], known.keys = one.text, append(known.keys, one.key)
	}
	if known.signer, err = signature.NewSigner(texts...); err != nil {
		return signing{}, err
	}
	if len(s.byID) >= maxSigners {
		clear(s.byID)
	}
	s.byID[webhookID] = known
	return known, nil
}
