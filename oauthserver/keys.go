package oauthserver

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/oauthserver/internal/failure"
	"github.com/partnerkit/partnerkit/oauthserver/internal/sessiontoken"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

const (
	// minKeyRotation leaves each key time to sign before its successor does.
	minKeyRotation     = sessiontoken.LeadTime
	defaultKeyRotation = 90 * 24 * time.Hour
)

// ErrInternal marks errors that are not the caller's: the store or the host failed. The
// response is a 5xx.
var ErrInternal = failure.Err

// keyStore gives package sessiontoken the signing keys of an [oauthstore.Store].
type keyStore struct{ oauthstore.Store }

func (s keyStore) SigningKeys(ctx context.Context, now time.Time) ([]sessiontoken.Key, error) {
	rows, err := s.Store.SigningKeys(ctx, now)
	keys := make([]sessiontoken.Key, len(rows))
	for i, row := range rows {
		keys[i] = sessiontoken.Key(row)
	}
	return keys, err
}

func (s keyStore) AddSigningKey(ctx context.Context, key sessiontoken.Key, after string, retireOlder time.Time) error {
	err := s.Store.AddSigningKey(ctx, oauthstore.SigningKey(key), after, retireOlder)
	if errors.Is(err, partner.ErrNotFound) { // another node was first
		return nil
	}
	return err
}

// CheckKeys returns nil if the keyring opens the signing keys of the store. It creates the
// first key of an empty store. A host calls it before it reports that it is ready: with the
// wrong keyring neither session tokens nor webhooks can be signed. Errors wrap [ErrInternal].
func (s *Server) CheckKeys(ctx context.Context) error {
	return failure.Wrap("check signing keys", s.core.Keys.Check(ctx, s.cfg.Clock.Now()))
}

// RotateSigningKey creates a new signing key for session tokens. The key is published at
// once and signs after an hour. The keys before it stay published until every token that
// they signed has expired. If several nodes rotate at the same time, one key is created and
// all of them return nil. Errors wrap [ErrInternal].
func (s *Server) RotateSigningKey(ctx context.Context) error {
	return failure.Wrap("rotate signing key", s.core.Keys.Rotate(ctx, s.cfg.Clock.Now()))
}
