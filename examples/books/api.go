package books

import (
	"context"
	"errors"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
)

// Routes returns what apps may call, and people with a session.
func (b *Books) Routes() []guard.Route {
	routes := b.ledger.Routes()
	for i := range routes {
		routes[i].Installations = true // the records belong to the business
	}
	routes = append(routes, guard.Route{Pattern: "GET /profile", Scope: "profile:read", SessionsAllowed: true, Handler: b.serveProfile}) // of a person
	for i := range routes {
		routes[i].Description = described().Routes[routes[i].Pattern]
	}
	return routes
}

// HasPermission implements guard.Permissions. It reads the books at every call.
func (b *Books) HasPermission(ctx context.Context, businessID, userID string, permission guard.Permission) (bool, error) {
	m, err := b.membership(ctx, userID, businessID)
	if errors.Is(err, ErrAbsent) {
		return false, nil
	}
	return m.may(string(permission)), err
}

// named is a user or a business in the profile.
type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// serveProfile serves the user and the business that the caller acts for.
func (b *Books) serveProfile(w http.ResponseWriter, r *http.Request) error {
	p, _ := identity.PrincipalFrom(r.Context())
	u, err := b.User(r.Context(), p.UserID)
	if err != nil {
		return err
	}
	m, err := b.membership(r.Context(), p.UserID, p.BusinessID)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, map[string]named{
		"user": {u.ID, u.Name}, "business": {m.BusinessID, m.Business},
	})
}
