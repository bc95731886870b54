package sessiontoken

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/partnerkit/partnerkit/internal/strictjson"
)

const (
	// MaxLength is the maximum length of a session token in bytes.
	MaxLength = 8 << 10
	// maxSkew is how far the clocks of two nodes may differ: the time of issue may be
	// that far in the future.
	maxSkew = 5 * time.Second

	tokenType       = "JWT"
	tokenCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
)

// Token is the content of a session token.
type Token struct {
	ID             string // jti
	UserID         string
	BusinessID     string
	SessionID      string
	InstallationID string
	ExpiresAt      time.Time
}

// Rejection is the reason why a token is not valid. It quotes nothing of the token.
type Rejection string

// Error implements error.
func (r Rejection) Error() string { return "session token: " + string(r) }

// header is the whole header of a session token. A token with any other member is rejected:
// a header must neither carry a key nor refer to one.
type header struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	Type      string `json:"typ"`
}

// claims are the claims of a session token (RFC 7519 section 4). The times are pointers
// because an absent time must not be read as 1970.
type claims struct {
	Issuer     string `json:"iss"`
	Audience   string `json:"aud"` // one client_id, never a list
	Subject    string `json:"sub"`
	BusinessID string `json:"business_id"`
	SessionID  string `json:"sid"`
	ID         string `json:"jti"` // the installation's id, a dot and random text
	IssuedAt   *int64 `json:"iat"`
	Expires    *int64 `json:"exp"`
}

// Issue signs a token for the app with this client_id. ID and ExpiresAt of t are not read.
// The id of the token contains the installation: the tokens of an installation that has
// ended are invalid, even if the app is installed again before they expire.
func (k *Keys) Issue(ctx context.Context, clientID string, t Token, now time.Time) (string, error) {
	key, err := k.signer(ctx, now)
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key.private, KeyID: key.ID}},
		new(jose.SignerOptions).WithType(tokenType))
	if err != nil {
		return "", fmt.Errorf("session token signer: %w", err)
	}
	issued := now.Unix()
	expires := issued + int64(k.Lifetime/time.Second)
	payload, err := json.Marshal(claims{
		Issuer: k.Issuer, Audience: clientID, Subject: t.UserID, BusinessID: t.BusinessID, SessionID: t.SessionID,
		ID: t.InstallationID + "." + rand.Text(), IssuedAt: &issued, Expires: &expires,
	})
	if err != nil {
		return "", fmt.Errorf("encode session token: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign session token: %w", err)
	}
	return signed.CompactSerialize()
}

// Verify returns the content of a token that was issued for the app with this client_id.
// The error is a [Rejection] if the token is not valid. The checks are made in the order of
// their cost: length and form, header, signature, claims.
func (k *Keys) Verify(ctx context.Context, clientID, token string, now time.Time) (Token, error) {
	keyID, err := readKeyID(token)
	if err != nil {
		return Token{}, err
	}
	key, err := k.verifier(ctx, keyID, now)
	switch {
	case err != nil:
		return Token{}, err
	case key == nil:
		return Token{}, Rejection("signed by none of the published keys")
	}
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return Token{}, Rejection("not a JWS signed with ES256")
	}
	payload, err := signed.Verify(key)
	if err != nil {
		return Token{}, Rejection("the signature is wrong")
	}
	var c claims
	if strictjson.Unmarshal(payload, &c, strictjson.Limits{IgnoreUnknown: true}) != nil {
		return Token{}, Rejection("a claim has the wrong type or comes twice")
	}
	return k.check(c, clientID, now)
}

// readKeyID checks the form of a token and its header, and returns the header's key id.
// Dots are counted before the token is split.
func readKeyID(token string) (string, error) {
	if len(token) > MaxLength {
		return "", Rejection("too long")
	}
	if strings.Count(token, ".") != 2 || strings.Trim(token, tokenCharacters) != "" {
		return "", Rejection("not a JWS in compact form")
	}
	head, _, _ := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(head)
	if err != nil {
		return "", Rejection("the header is not base64url")
	}
	var h header
	if strictjson.Unmarshal(raw, &h, strictjson.Limits{}) != nil {
		return "", Rejection("the header has other members than alg, kid and typ")
	}
	if h.Algorithm != string(jose.ES256) || h.Type != tokenType || h.KeyID == "" {
		return "", Rejection("the header names another algorithm or type, or no key")
	}
	return h.KeyID, nil
}

// check checks the claims of a token with a valid signature.
func (k *Keys) check(c claims, clientID string, now time.Time) (Token, error) {
	switch {
	case c.Issuer != k.Issuer:
		return Token{}, Rejection("another issuer")
	case c.Audience == "" || c.Audience != clientID:
		return Token{}, Rejection("for another app")
	case c.Subject == "" || c.BusinessID == "" || c.SessionID == "":
		return Token{}, Rejection("no user, business or session")
	case c.IssuedAt == nil || c.Expires == nil:
		return Token{}, Rejection("no times")
	}
	dot := strings.LastIndexByte(c.ID, '.')
	if dot <= 0 || dot == len(c.ID)-1 {
		return Token{}, Rejection("its id names no installation")
	}
	expires := time.Unix(*c.Expires, 0).UTC()
	switch lifetime := int64(k.Lifetime / time.Second); {
	case *c.IssuedAt < 0 || *c.IssuedAt > now.Add(maxSkew).Unix():
		return Token{}, Rejection("issued in the future")
	case *c.Expires <= *c.IssuedAt || *c.Expires-*c.IssuedAt > lifetime: // neither is negative: no overflow
		return Token{}, Rejection("the lifetime is too long or not positive")
	case !now.Before(expires):
		return Token{}, Rejection("expired")
	}
	return Token{
		ID: c.ID, UserID: c.Subject, BusinessID: c.BusinessID, SessionID: c.SessionID,
		InstallationID: c.ID[:dot], ExpiresAt: expires,
	}, nil
}
