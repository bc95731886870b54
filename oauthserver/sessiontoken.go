package oauthserver

import (
	"context"
	"time"
)

// SessionToken is what a verified subject token of token exchange says.
type SessionToken struct {
	ID             string // jti: a token is used once
	UserID         string
	BusinessID     string
	SessionID      string
	InstallationID string // that it was minted under; empty when the format has none
	ExpiresAt      time.Time
}

// SessionTokenVerifier verifies subject tokens. An error means that the token is
// not good, except one that wraps [ErrFault], which is a fault.
type SessionTokenVerifier interface {
	VerifySessionToken(ctx context.Context, app App, token string, now time.Time) (SessionToken, error)
}
