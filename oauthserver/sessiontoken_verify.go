package oauthserver

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/partnerkit/partnerkit/apierror"
)

// sessionSkew is how far the clocks of two nodes may differ: a token may be that
// much from the future.
const sessionSkew = 5 * time.Second

// sessionTokens verifies the tokens of [Server.MintSessionToken]. What it returns
// about a bad token never has a word of the token in it.
type sessionTokens struct {
	keys   *signingKeys
	issuer string
}

var _ SessionTokenVerifier = sessionTokens{}

// VerifySessionToken reads the token in the order of what it costs: its size and
// shape, its header, the signature, and only then what it says.
func (v sessionTokens) VerifySessionToken(ctx context.Context, app App, token string, now time.Time) (SessionToken, error) {
	kid, err := sessionKeyID(token)
	if err != nil {
		return SessionToken{}, err
	}
	key, known, err := v.keys.verifier(ctx, kid, now)
	switch {
	case err != nil:
		return SessionToken{}, err
	case !known:
		return SessionToken{}, errors.New("session token: signed by none of the published keys")
	}
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return SessionToken{}, errors.New("session token: not a JWS signed with ES256")
	}
	payload, err := signed.Verify(key)
	if err != nil {
		return SessionToken{}, errors.New("session token: the signature is wrong")
	}
	var claims sessionClaims
	if decodeStrict(payload, &claims, apierror.JSONLimits{IgnoreUnknown: true}) != nil {
		return SessionToken{}, errors.New("session token: a claim has the wrong type or comes twice")
	}
	return v.judge(claims, app, now)
}

// sessionKeyID looks at the shape of a token and at its header, which must be ours
// to the letter. Dots are counted before anything is split at them.
func sessionKeyID(token string) (string, error) {
	if len(token) > MaxSessionToken {
		return "", errors.New("session token: too long")
	}
	if strings.Count(token, ".") != 2 || strings.ContainsFunc(token, isNoTokenCharacter) {
		return "", errors.New("session token: not a JWS in compact form")
	}
	head, _, _ := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(head)
	if err != nil {
		return "", errors.New("session token: the header is not base64url")
	}
	var header sessionHeader
	if decodeStrict(raw, &header, apierror.JSONLimits{}) != nil {
		return "", errors.New("session token: the header has other members than alg, kid and typ")
	}
	if header.Algorithm != string(jose.ES256) || header.Type != sessionTokenType || header.KeyID == "" {
		return "", errors.New("session token: the header names another algorithm or type, or no key")
	}
	return header.KeyID, nil
}

func isNoTokenCharacter(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '.':
		return false
	}
	return true
}

// judge looks at the claims of a token that we signed.
func (v sessionTokens) judge(c sessionClaims, app App, now time.Time) (SessionToken, error) {
	switch {
	case c.Issuer != v.issuer:
		return SessionToken{}, errors.New("session token: another issuer")
	case c.Audience == "" || c.Audience != app.ClientID:
		return SessionToken{}, errors.New("session token: for another app")
	case c.Subject == "" || c.BusinessID == "" || c.SessionID == "":
		return SessionToken{}, errors.New("session token: no user, business or session")
	case c.IssuedAt == nil || c.Expires == nil:
		return SessionToken{}, errors.New("session token: no times")
	}
	installation, ok := installationOf(c.ID)
	if !ok {
		return SessionToken{}, errors.New("session token: its id names no installation")
	}
	expires, err := checkSessionTimes(*c.IssuedAt, *c.Expires, now)
	if err != nil {
		return SessionToken{}, err
	}
	return SessionToken{
		ID: c.ID, UserID: c.Subject, BusinessID: c.BusinessID, SessionID: c.SessionID,
		InstallationID: installation, ExpiresAt: expires,
	}, nil
}

// checkSessionTimes returns when the token expires. At that second it has.
func checkSessionTimes(issuedAt, expiresAt int64, now time.Time) (time.Time, error) {
	const lifetime = int64(SessionTokenLifetime / time.Second)
	latest := now.Add(sessionSkew).Unix()
	switch {
	case issuedAt < 0 || issuedAt > latest:
		return time.Time{}, errors.New("session token: from the future")
	// The difference of two that are not negative does not overflow.
	case expiresAt <= issuedAt || expiresAt-issuedAt > lifetime:
		return time.Time{}, errors.New("session token: it lives too long, or not at all")
	}
	expires := time.Unix(expiresAt, 0).UTC()
	if !now.Before(expires) {
		return time.Time{}, errors.New("session token: expired")
	}
	return expires, nil
}
