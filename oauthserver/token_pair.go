package oauthserver

import (
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// The names of kinds of tokens (RFC 6750, RFC 8693 section 3).
const (
	tokenTypeBearer      = "Bearer"
	tokenTypeAccessToken = "urn:ietf:params:oauth:token-type:access_token" //nolint:gosec // a name
	tokenTypeJWT         = "urn:ietf:params:oauth:token-type:jwt"          //nolint:gosec // a name
)

// tokenAnswer is the answer of the token endpoint (RFC 6749 section 5.1).
type tokenAnswer struct {
	AccessToken     string `json:"access_token"`
	IssuedTokenType string `json:"issued_token_type,omitempty"` // RFC 8693 section 2.2.1
	TokenType       string `json:"token_type"`
	ExpiresIn       int    `json:"expires_in"`
	RefreshToken    string `json:"refresh_token,omitempty"`
	Scope           string `json:"scope"`
}

// pair is an access token and, unless it is zero, a refresh token, made but not
// yet issued: only a store act can do that.
type pair struct {
	access, refresh secret.Secret
}

func newPair(now time.Time) pair {
	return pair{
		access:  secret.NewToken(secret.AccessToken, id.New(id.Token, now)),
		refresh: secret.NewToken(secret.RefreshToken, id.New(id.Token, now)),
	}
}

// mint is what the store needs to know of the pair.
func (p pair) issue(now time.Time) NewTokens {
	m := NewTokens{
		Now:           now,
		AccessID:      p.access.TokenID(),
		AccessDigest:  p.access.Digest(),
		AccessExpires: now.Add(AccessTokenLifetime),
	}
	if !p.refresh.IsZero() {
		m.FamilyID = id.New(id.Family, now)
		m.RefreshID = p.refresh.TokenID()
		m.RefreshDigest = p.refresh.Digest()
		m.RefreshExpires = now.Add(RefreshTokenLifetime)
	}
	return m
}

// answer shows the pair to its client, the only time that anybody sees it.
func (p pair) answer(scopes identity.Scopes) tokenAnswer {
	return tokenAnswer{
		AccessToken:  p.access.Reveal(),
		TokenType:    tokenTypeBearer,
		ExpiresIn:    int(AccessTokenLifetime / time.Second),
		RefreshToken: p.refresh.Reveal(),
		Scope:        scopes.String(),
	}
}
