// Package bearer accepts JWTs that the backend gives its own clients, such as a mobile app, on
// the same routes as the tokens of apps.
package bearer

import (
	"context"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
)

// Issuer and audience of our own tokens. Session tokens for embedded apps are JWTs too, with an
// issuer and keys of their own, and must not pass for these.
const (
	issuer   = "https://login.example.com"
	audience = "mobile"
)

// IsMember says whether a user is a member of a business now.
type IsMember func(ctx context.Context, business, user string) (bool, error)

// Tokens are a Config.ForeignTokens for JWTs signed with EdDSA and our key. The business is named
// by a header, since a person may have several. An error is a 5xx, and false is a 401.
func Tokens(key jose.JSONWebKey, isMember IsMember, now func() time.Time) guard.ForeignTokens {
	return func(r *http.Request, text string) (identity.Session, bool, error) {
		token, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.EdDSA})
		if err != nil {
			return identity.Session{}, false, nil // of another form, or another algorithm
		}
		var claims jwt.Claims
		if token.Claims(key.Public(), &claims) != nil || claims.Expiry == nil ||
			claims.ValidateWithLeeway(jwt.Expected{Issuer: issuer, AnyAudience: jwt.Audience{audience}, Time: now()}, 0) != nil {
			return identity.Session{}, false, nil
		}
		session := identity.Session{UserID: claims.Subject}
		if business := r.Header.Get("X-Business"); business != "" {
			member, err := isMember(r.Context(), business, claims.Subject)
			if err != nil {
				return identity.Session{}, false, err
			}
			if member {
				session.BusinessID = business
			}
		}
		return session, claims.Subject != "", nil
	}
}
