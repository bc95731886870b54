// Package assertion reads and verifies client assertions: JWTs that a client signs with a key
// of its own to authenticate (RFC 7523, private_key_jwt).
//
// [Parse] reads an assertion without trusting it, so that the request can be counted for the
// client that it names. [Assertion.Check] checks its claims, and [Assertion.Verify] its
// signature. Only an assertion that passes both says anything. Whether it was used before is
// for the caller to find out, by the ID.
package assertion

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/internal/text"
)

const (
	// Type is the client_assertion_type of assertions (RFC 7523 section 2.2).
	Type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// MaxLength is the maximum length of an assertion in bytes.
	MaxLength = 8 << 10
	// MaxLifetime is how far in the future an assertion may expire.
	MaxLifetime = 5 * time.Minute
	// Leeway is how far the clocks of client and server may differ.
	Leeway = 30 * time.Second

	maxClientID = 512
	characters  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
)

// algorithms are the accepted signature algorithms. None of them is symmetric, so a public
// key is never used as a shared secret.
var algorithms = []jose.SignatureAlgorithm{jose.ES256, jose.PS256, jose.RS256, jose.EdDSA}

// Algorithms returns the names of the accepted signature algorithms.
func Algorithms() []string {
	names := make([]string, len(algorithms))
	for i, algorithm := range algorithms {
		names[i] = string(algorithm)
	}
	return names
}

// Rejection is the reason why an assertion is not valid. It quotes nothing of the assertion.
type Rejection string

// Error implements error.
func (r Rejection) Error() string { return "client assertion: " + string(r) }

// Assertion is the content of an assertion. It is not verified.
type Assertion struct {
	ClientID  string // iss and sub, which are equal
	ID        string // jti
	KeyID     string // kid; empty: none was named
	ExpiresAt time.Time

	algorithm jose.SignatureAlgorithm
	signed    *jose.JSONWebSignature
	claims    claims
}

// header has the members of the header that matter. An assertion with crit or b64 is rejected:
// both change how it must be read. Keys in the header, and addresses of keys, are ignored.
type header struct {
	Algorithm string          `json:"alg"`
	KeyID     string          `json:"kid"`
	Critical  json.RawMessage `json:"crit"`
	Encoded   json.RawMessage `json:"b64"`
}

// claims are the claims of RFC 7523 section 3. The times are pointers because an absent time
// must not be read as 1970.
type claims struct {
	Issuer    string   `json:"iss"`
	Subject   string   `json:"sub"`
	Audience  audience `json:"aud"`
	ID        string   `json:"jti"`
	Expires   *float64 `json:"exp"`
	NotBefore *float64 `json:"nbf"`
	IssuedAt  *float64 `json:"iat"`
}

// audience is one text or a list.
type audience []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audience) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(a))
}

// Parse reads an assertion. Its error is a [Rejection].
func Parse(raw string) (*Assertion, error) {
	if len(raw) > MaxLength || strings.Count(raw, ".") != 2 || strings.Trim(raw, characters) != "" {
		return nil, Rejection("not a JWS in compact form")
	}
	encoded, _, _ := strings.Cut(raw, ".")
	var h header
	if decoded, err := base64.RawURLEncoding.Strict().DecodeString(encoded); err != nil || unmarshal(decoded, &h) != nil {
		return nil, Rejection("the header is malformed")
	}
	a := &Assertion{KeyID: h.KeyID, algorithm: jose.SignatureAlgorithm(h.Algorithm)}
	if !slices.Contains(algorithms, a.algorithm) {
		return nil, Rejection("the algorithm is not supported")
	}
	if h.Critical != nil || h.Encoded != nil {
		return nil, Rejection("the header has crit or b64")
	}
	var err error
	if a.signed, err = jose.ParseSignedCompact(raw, algorithms); err != nil {
		return nil, Rejection("not a signed JWS")
	}
	if unmarshal(a.signed.UnsafePayloadWithoutVerification(), &a.claims) != nil {
		return nil, Rejection("a claim has the wrong type or comes twice")
	}
	c := a.claims
	switch {
	case c.Subject == "" || len(c.Subject) > maxClientID || !text.IsVisible(c.Subject) || c.Issuer != c.Subject:
		return nil, Rejection("iss and sub do not name one client")
	case c.ID == "":
		return nil, Rejection("no jti")
	case c.Expires == nil:
		return nil, Rejection("no exp")
	}
	a.ClientID, a.ID = c.Subject, c.ID
	return a, nil
}

func unmarshal(data []byte, into any) error {
	return strictjson.Unmarshal(data, into, strictjson.Limits{IgnoreUnknown: true})
}

// Check checks the claims for a client and for the names that the server goes by, and sets
// ExpiresAt. Its error is a [Rejection].
func (a *Assertion) Check(clientID string, names []string, now time.Time) error {
	c := a.claims
	// Times are compared as numbers of seconds: exp may be any number.
	at := float64(now.UnixMilli()) / 1000
	leeway := Leeway.Seconds()
	switch {
	case a.ClientID != clientID:
		return Rejection("names another client")
	case !slices.ContainsFunc(c.Audience, func(name string) bool { return slices.Contains(names, name) }):
		return Rejection("for another audience")
	case *c.Expires > math.Ceil(at)+MaxLifetime.Seconds():
		return Rejection("expires too late")
	case *c.Expires < at-leeway:
		return Rejection("expired")
	case c.NotBefore != nil && *c.NotBefore > at+leeway:
		return Rejection("not valid yet")
	case c.IssuedAt != nil && *c.IssuedAt > at+leeway:
		return Rejection("issued in the future")
	}
	a.ExpiresAt = time.Unix(int64(math.Ceil(*c.Expires)), 0).UTC() // within minutes of now
	return nil
}

// Verify checks the signature with the keys of the client: with those that have the key id of
// the assertion, or with all if it has none. Its error is a [Rejection].
func (a *Assertion) Verify(keys Keys) error {
	if a.KeyID != "" && !keys.Has(a.KeyID) {
		return Rejection("signed by none of the client's keys")
	}
	for _, key := range keys.keys {
		if a.KeyID != "" && key.KeyID != a.KeyID || !fits(key, a.algorithm) {
			continue
		}
		if _, err := a.signed.Verify(key.Key); err == nil {
			return nil
		}
	}
	return Rejection("the signature is wrong")
}
