// Package identity says on whose behalf a call is made: by an app with a token
// ([Principal]) or by a person with a session cookie ([Session]), and what it may do
// ([Scopes], out of a [ScopeCatalog]).
//
// Whoever checks credentials puts one of the two into the request's context;
// whoever serves the request reads it there. All values are immutable once made and
// safe for concurrent use.
package identity

import (
	"context"
	"time"
)

// SignIn is how a caller proved who it is.
type SignIn string

// The ways to sign in.
const (
	SignInOAuth   SignIn = "oauth"   // an access token
	SignInSession SignIn = "session" // a session cookie
)

// Principal is who a call is made for: an app, in a business where it is installed,
// for the user who consented. Ids are opaque; those of users and businesses are the
// host's.
type Principal struct {
	AppID          string
	ClientID       string
	InstallationID string
	BusinessID     string
	UserID         string

	// Scopes are those that hold at this call: as issued, cut down to what the
	// installation and the app still have.
	Scopes Scopes

	// Version is the API version that the call is served in.
	Version string

	// SignIn is how the credentials came. A principal made of a session has a
	// user and a business, and no app.
	SignIn SignIn
}

// Session is a person who signed in to the host, and the business they act for.
type Session struct {
	ID         string
	UserID     string
	BusinessID string // empty until one is chosen
	SignedInAt time.Time
}

type (
	principalKey struct{}
	sessionKey   struct{}
)

// WithPrincipal returns a context that carries p.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalFrom returns the principal that ctx carries; false when there is none, as
// on a route that nobody guards.
func PrincipalFrom(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}

// WithSession returns a context that carries s.
func WithSession(ctx context.Context, s Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// SessionFrom returns the session that ctx carries; false when nobody is signed in.
func SessionFrom(ctx context.Context) (Session, bool) {
	s, ok := ctx.Value(sessionKey{}).(Session)
	return s, ok
}
