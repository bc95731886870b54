package oauthserver

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

const (
	// MaxBcryptCost and MaxPBKDF2Rounds bound the work of checking a digest of another server's.
	MaxBcryptCost   = 12
	MaxPBKDF2Rounds = 600_000

	maxForeignDigest = 512
	maxForeignKey    = 64 // bytes
	// foreignPatience is how long a check of a foreign digest waits for a slot.
	foreignPatience = 2 * time.Second
	// maxForeignSecret is the length of a secret that is checked against a foreign digest.
	maxForeignSecret = 1024
)

// foreignDigest is a digest of a client secret that another server made.
type foreignDigest struct {
	sha256 *storage.Digest // which is as we keep digests
	bcrypt []byte
	hash   func() hash.Hash // of PBKDF2
	rounds int
	salt   []byte
	key    []byte
}

// parseForeignDigest reads 64 hexadecimal digits (SHA-256), bcrypt's $2a$… and
// $pbkdf2-sha256$i=…,l=…$salt$key, also with sha512. Its error does not show the digest.
func parseForeignDigest(text string) (foreignDigest, error) {
	if len(text) > maxForeignDigest {
		return foreignDigest{}, errors.New("is too long")
	}
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == sha256.Size {
		digest := storage.Digest(raw)
		return foreignDigest{sha256: &digest}, nil
	}
	if strings.HasPrefix(text, "$2") {
		cost, err := bcrypt.Cost([]byte(text))
		switch {
		case err != nil || len(text) != 60:
			return foreignDigest{}, errors.New("is not a digest of bcrypt")
		case cost > MaxBcryptCost:
			return foreignDigest{}, fmt.Errorf("has the cost %d; at most %d is checked", cost, MaxBcryptCost)
		}
		return foreignDigest{bcrypt: []byte(text)}, nil
	}
	if strings.HasPrefix(text, "$pbkdf2-") {
		return parsePBKDF2(strings.Split(text[1:], "$"))
	}
	return foreignDigest{}, errors.New("must be SHA-256 in 64 hexadecimal digits, bcrypt or PBKDF2")
}

// parsePBKDF2 reads pbkdf2-sha256, i=rounds,l=length, the salt and the key.
func parsePBKDF2(parts []string) (foreignDigest, error) {
	malformed := errors.New("must have the form $pbkdf2-sha256$i=<rounds>,l=<length>$<salt>$<key>")
	if len(parts) != 4 {
		return foreignDigest{}, malformed
	}
	d := foreignDigest{}
	switch parts[0] {
	case "pbkdf2-sha256":
		d.hash = sha256.New
	case "pbkdf2-sha512":
		d.hash = sha512.New
	default:
		return foreignDigest{}, malformed
	}
	rounds, length, ok := strings.Cut(parts[1], ",")
	rounds, hasRounds := strings.CutPrefix(rounds, "i=")
	length, hasLength := strings.CutPrefix(length, "l=")
	var err error
	if !ok || !hasRounds || !hasLength {
		return foreignDigest{}, malformed
	}
	if d.rounds, err = strconv.Atoi(rounds); err != nil || d.rounds < 1 {
		return foreignDigest{}, malformed
	}
	if d.rounds > MaxPBKDF2Rounds {
		return foreignDigest{}, fmt.Errorf("has %d rounds; at most %d are checked", d.rounds, MaxPBKDF2Rounds)
	}
	n, err := strconv.Atoi(length)
	if err != nil {
		return foreignDigest{}, malformed
	}
	if d.salt, err = base64.RawStdEncoding.DecodeString(parts[2]); err != nil {
		return foreignDigest{}, malformed
	}
	if d.key, err = base64.RawStdEncoding.DecodeString(parts[3]); err != nil || len(d.key) != n || n < 16 || n > min(maxForeignKey, d.hash().Size()) {
		return foreignDigest{}, malformed
	}
	return d, nil
}

// matches checks a secret, which takes up to about half a second of processor time.
func (d foreignDigest) matches(presented string) bool {
	switch {
	case d.sha256 != nil:
		return d.sha256.Equal(secret.DigestOf(presented))
	case d.bcrypt != nil:
		return bcrypt.CompareHashAndPassword(d.bcrypt, []byte(presented)) == nil
	}
	key, err := pbkdf2.Key(d.hash, presented, d.salt, d.rounds, len(d.key))
	return err == nil && subtle.ConstantTimeCompare(key, d.key) == 1
}

// newForeignSlots returns the slots of checks that may run at the same time.
func newForeignSlots() chan struct{} { return make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)) }

// acceptsForeign reports whether a client proves itself with a secret of which only a foreign
// digest is known. The digest is then replaced by ours. Few checks run at a time, and a request
// that waits for too long is rejected: whatever is sent, the rest of the processor is left to
// others. The lockouts count failures before this.
func (s *Server) acceptsForeign(ctx context.Context, c call, client oauthstore.Client) (bool, error) {
	presented := c.credentials.Secret
	if presented.IsZero() {
		return false, nil
	}
	// A client_id that does not exist is asked for too, so that the duration does not tell it.
	known, err := s.cfg.Store.ForeignSecrets(ctx, client.ID)
	if err != nil {
		return false, apierror.Failed("find foreign secrets", err)
	}
	if client.Type != partner.Confidential || len(known) == 0 || len(presented.Reveal()) > maxForeignSecret {
		return false, nil
	}
	wait, cancel := context.WithTimeout(ctx, foreignPatience)
	defer cancel()
	select {
	case s.foreignSlots <- struct{}{}:
		defer func() { <-s.foreignSlots }()
	case <-wait.Done():
		return false, apierror.OAuthTooManyRequests(foreignPatience)
	}
	for _, one := range known {
		digest, err := parseForeignDigest(one.Digest)
		if err != nil {
			return false, apierror.Failed("read a foreign digest", err)
		}
		if !digest.matches(presented.Reveal()) {
			continue
		}
		if err := s.cfg.Store.ReplaceForeignSecret(ctx, client.ID, one.SecretID, presented.Digest()); err != nil {
			return false, apierror.Failed("replace a foreign digest", err)
		}
		return true, nil
	}
	return false, nil
}
