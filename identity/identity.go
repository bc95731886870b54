// Package identity describes the caller of a request: an app with a token ([Principal])
// or a person with a session cookie ([Session]), and what the caller may do ([Scopes],
// from a [ScopeCatalog]).
//
// The code that checks credentials puts one of the two into the request's context, and
// the handler reads it there. All values are immutable and safe for concurrent use.
package identity

import (
	"context"
	"time"
)

// SignIn is how a caller authenticated.
type SignIn string

// The ways to sign in.
const (
	SignInOAuth   SignIn = "oauth"   // an access token
	SignInSession SignIn = "session" // a session cookie, or a token of the host's own clients
)

// Principal is the identity of a call: an app, in a business where it is installed,
// for the user who consented, or for the installation itself. Ids are opaque. The host
// assigns the ids of users and businesses.
type Principal struct {
	AppID          string
	ClientID       string
	InstallationID string
	BusinessID     string
	UserID         string // empty if ForInstallation

	// ForInstallation reports that the token is that of a custom connection: the call is made
	// for the installation, on behalf of no user. Only routes that say so take such calls, see
	// guard.Route.Installations.
	ForInstallation bool
	// Permissions are what a call ForInstallation may do, as decided when the connection was
	// approved. Those of a user are the host's to know.
	Permissions []string

	// Scopes are the effective scopes of this call: as issued, reduced to those that the
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
	// DisplayName is the name or the address by which pages address the person; empty:
	// they show none.
	DisplayName string
}

type (
	principalKey struct{}
	sessionKey   struct{}
)

// WithPrincipal returns a context that carries p.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalFrom returns the principal that ctx carries. It returns false if there is
// none, as on a route without a guard.
func PrincipalFrom(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}

// WithSession returns a context that carries s.
func WithSession(ctx context.Context, s Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// SessionFrom returns the session that ctx carries. It returns false if the request has
// no session.
func SessionFrom(ctx context.Context) (Session, bool) {
	s, ok := ctx.Value(sessionKey{}).(Session)
	return s, ok
}
