package oauthserver

import (
	"context"
	"errors"
	"strings"
	"time"
)

// SessionToken is what a verified subject token of token exchange says.
type SessionToken struct {
	ID             string // jti: a token is used once
	UserID         string
	BusinessID     string
	SessionID      string
	InstallationID string // that it was issued under; empty when the format has none
	ExpiresAt      time.Time
}

// SessionTokenVerifier verifies subject tokens. An error means that the token is
// not good, except one that wraps [ErrInternal], which is a fault.
type SessionTokenVerifier interface {
	VerifySessionToken(ctx context.Context, app App, token string, now time.Time) (SessionToken, error)
}

// Why no session token is issued; match with errors.Is.
var (
	// ErrPublicApp: a PUBLIC app cannot exchange session tokens.
	ErrPublicApp = errors.New("a PUBLIC app gets no session tokens")
	// ErrAppNotUsable: the app is suspended or deactivated.
	ErrAppNotUsable = errors.New("the app is suspended or deactivated")
	// ErrNotInstalled: the business has no ACTIVE installation of the app.
	ErrNotInstalled = errors.New("the app is not installed in the business")
	// ErrNotMember: the user is no member of the business.
	ErrNotMember = errors.New("the user is not a member of the business")
	// ErrUserNotActive: the user is suspended or restricted.
	ErrUserNotActive = errors.New("the user is suspended or restricted")
)

// MaxSessionToken is how long a session token may be, in bytes.
const MaxSessionToken = 8 << 10

const sessionTokenType = "JWT"

// sessionHeader is the whole header of a session token. A token with any other
// member is refused: a header must not bring its own key or point to one.
type sessionHeader struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	Type      string `json:"typ"`
}

// sessionClaims are the claims of a session token (RFC 7519 section 4). Times are
// pointers because an absent one must not read as 1970.
type sessionClaims struct {
	Issuer     string `json:"iss"`
	Audience   string `json:"aud"` // one, never a list
	Subject    string `json:"sub"`
	BusinessID string `json:"business_id"`
	SessionID  string `json:"sid"`
	ID         string `json:"jti"` // see sessionTokenID
	IssuedAt   *int64 `json:"iat"`
	Expires    *int64 `json:"exp"`
}

// sessionTokenID binds a token to the installation that it was issued under: one
// that ends takes its tokens with it, also when the app is installed again before
// they expire.
func sessionTokenID(installationID, random string) string { return installationID + "." + random }

// installationOf reads what sessionTokenID wrote.
func installationOf(tokenID string) (installationID string, ok bool) {
	at := strings.LastIndexByte(tokenID, '.')
	if at <= 0 || at == len(tokenID)-1 {
		return "", false
	}
	return tokenID[:at], true
}
