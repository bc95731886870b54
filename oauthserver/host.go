package oauthserver

import (
	"context"
	"net/http"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
)

// Host is the backend that the server is part of. Its ids of users, businesses and
// organizations are opaque to the server.
type Host interface {
	// Session returns the session of the request; false if no user is signed in.
	Session(r *http.Request) (identity.Session, bool, error)
	// SignIn responds to a request of a user who is not signed in, usually with a
	// redirect to the sign-in page. After sign-in the user returns to returnTo, a path
	// with a query on the app host. For a user who opened the authorize page, returnTo
	// contains the whole authorization request, and nothing is stored before the user
	// returns: it has about 500 bytes, and 11 KiB for the longest request.
	SignIn(w http.ResponseWriter, r *http.Request, returnTo string)
	// Businesses lists the businesses that the user is a member of, in the order in
	// which a page shows them.
	Businesses(ctx context.Context, userID string) ([]Business, error)
	// IsMember reports whether the user is still a member of the business.
	IsMember(ctx context.Context, businessID, userID string) (bool, error)
}

// Business is a business that a user is a member of.
type Business struct {
	ID   string
	Name string
	// SandboxOf is the organization whose sandbox it is; empty for a real one.
	SandboxOf string
	// MayConnect reports whether the user's role there may connect apps.
	MayConnect bool
}

// host gives the packages below the businesses in their words.
type host struct{ Host }

func (h host) Businesses(ctx context.Context, userID string) ([]core.Business, error) {
	all, err := h.Host.Businesses(ctx, userID)
	businesses := make([]core.Business, len(all))
	for i, one := range all {
		businesses[i] = core.Business(one)
	}
	return businesses, err
}
