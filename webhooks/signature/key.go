package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"sync/atomic"
)

// key is a secret, ready to sign. It is safe for concurrent use.
type key struct {
	// A function, so that no printer gets to see the secret.
	newState func() *state
	// idle is a keyed state that is not in use. One is enough: signing takes a microsecond,
	// and a caller that finds none creates another. A sync.Pool for each of many webhooks
	// would burden every garbage collection.
	idle atomic.Pointer[state]
}

// state is an HMAC and the scratch space that it would otherwise allocate.
type state struct {
	mac  hash.Hash
	text [24]byte // any t and a dot
	sum  [sha256.Size]byte
}

// newKeys rejects incomplete secrets: an empty one would accept every sender, and one with
// a trailing line break matches nothing. Errors name a secret by its position and never
// show it.
func newKeys(secrets []string) ([]*key, error) {
	if len(secrets) == 0 {
		return nil, errors.New("signature: no secret")
	}
	keys := make([]*key, len(secrets))
	for i, secret := range secrets {
		if strings.TrimPrefix(secret, "whsec_") == "" {
			return nil, fmt.Errorf("signature: secret %d is empty", i+1)
		}
		if strings.TrimSpace(secret) != secret {
			return nil, fmt.Errorf("signature: secret %d has a space or line break around it", i+1)
		}
		keys[i] = &key{newState: func() *state { return &state{mac: hmac.New(sha256.New, []byte(secret))} }}
	}
	return keys, nil
}

// sign makes the HMAC of "<t>.<body>", after a prefix that may be empty.
func (k *key) sign(prefix string, t int64, body []byte) [sha256.Size]byte {
	s := k.idle.Swap(nil)
	if s == nil {
		s = k.newState()
	} else {
		s.mac.Reset()
	}
	if prefix != "" {
		s.mac.Write([]byte(prefix))
	}
	s.mac.Write(append(strconv.AppendInt(s.text[:0], t, 10), '.'))
	s.mac.Write(body)
	s.mac.Sum(s.sum[:0])
	sum := s.sum
	k.idle.Store(s)
	return sum
}
