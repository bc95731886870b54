package oauthserver

import (
	"context"
	"net/http"

	"github.com/partnerkit/partnerkit/identity"
)

// Host is what the server asks of the backend that it is part of. Its ids of
// users, businesses and organizations are opaque here.
type Host interface {
	// Session returns who is signed in on this request; false when nobody is.
	Session(r *http.Request) (identity.Session, bool, error)
	// SignIn answers a request of somebody who is not signed in, usually with a
	// redirect to the sign-in page, which later brings them to returnTo, a path
	// with a query on the app host.
	SignIn(w http.ResponseWriter, r *http.Request, returnTo string)
	// Businesses lists those that the user is a member of, in the order in
	// which a page should show them.
	Businesses(ctx context.Context, userID string) ([]Business, error)
	// IsMember reports whether the user is still a member of the business.
	IsMember(ctx context.Context, businessID, userID string) (bool, error)
}

// Business is one that a user is a member of.
type Business struct {
	ID   string
	Name string
	// SandboxOf is the organization whose sandbox it is; empty for a real one.
	SandboxOf string
	// MayConnect reports whether the user's role there may connect apps.
	MayConnect bool
}
