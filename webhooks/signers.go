package webhooks

import (
	"bytes"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// maxSigners is how many webhooks' secrets are kept open in memory.
const maxSigners = 10_000

// signers remembers signers, since to open a secret costs more than to sign.
type signers struct {
	open func(webhookID string, s Secrets, now time.Time) ([]string, error)

	mu   sync.Mutex
	byID map[string]signing
}

type signing struct {
	secrets Secrets
	isBoth  bool // the previous secret signs too
	signer  *signature.Signer
}

// of returns what signs for a webhook at a time.
func (s *signers) of(webhookID string, secrets Secrets, now time.Time) (*signature.Signer, error) {
	isBoth := secrets.Previous != nil && now.Before(secrets.PreviousExpiresAt)
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.byID[webhookID]
	if ok && known.isBoth == isBoth && bytes.Equal(known.secrets.Secret, secrets.Secret) && bytes.Equal(known.secrets.Previous, secrets.Previous) {
		return known.signer, nil
	}
	texts, err := s.open(webhookID, secrets, now)
	if err != nil {
		return nil, err
	}
	signer, err := signature.NewSigner(texts...)
	if err != nil {
		return nil, err
	}
	if len(s.byID) >= maxSigners {
		clear(s.byID)
	}
	s.byID[webhookID] = signing{secrets: secrets, isBoth: isBoth, signer: signer}
	return signer, nil
}
