package oauthstore

import (
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
