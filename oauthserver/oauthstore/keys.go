package oauthstore

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

// ClientKeys are the public keys of an app as they were last fetched from its jwks_uri.
type ClientKeys struct {
	AppID                 string
	URI                   string
	Set                   string // a JWK Set
	FetchedAt, FreshUntil time.Time
}

// UsedAssertion is a client assertion that authenticated a request.
type UsedAssertion struct {
	// Digest identifies the assertion among those of all clients, by client and jti.
	Digest    storage.Digest
	ExpiresAt time.Time
}

// AssertionStore is about clients that authenticate with private_key_jwt.
type AssertionStore interface {
	// UseAssertion records an assertion and reports whether it had not been recorded
	// before. It returns true to exactly one of several concurrent callers.
	UseAssertion(ctx context.Context, a UsedAssertion) (bool, error)
	// ClientKeys returns the keys of an app that were saved last; [partner.ErrNotFound].
	ClientKeys(ctx context.Context, appID string) (ClientKeys, error)
	// SaveClientKeys replaces the keys of an app, unless the saved ones were fetched later.
	// It does nothing for an app that does not exist.
	SaveClientKeys(ctx context.Context, k ClientKeys) error
}
