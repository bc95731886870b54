package partnerkit

import (
	"context"
	"slices"

	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
)

// routePermissions are the permissions that routes declare, of which the host grants some to a
// user in a business.
type routePermissions struct {
	routes  []guard.Route
	granted guard.Permissions
}

// ofInstallation returns the permissions that calls of a custom connection can need with these
// scopes, and that the user has in the business: those of the routes with Installations that the
// scopes open. They are sorted.
func (p routePermissions) ofInstallation(ctx context.Context, businessID, userID string, scopes identity.Scopes) ([]string, error) {
	return p.held(ctx, businessID, userID, func(r guard.Route) bool { return r.Installations && isOpenedBy(r, scopes) })
}

// ofUser returns the permissions that calls made for the user can need with these scopes, and
// that the user has in the business: those of the routes that the scopes open. They are sorted.
func (p routePermissions) ofUser(ctx context.Context, businessID, userID string, scopes identity.Scopes) ([]string, error) {
	return p.held(ctx, businessID, userID, func(r guard.Route) bool { return isOpenedBy(r, scopes) })
}

func isOpenedBy(r guard.Route, scopes identity.Scopes) bool {
	return r.Scope == guard.AnyScope || scopes.Has(r.Scope)
}

func (p routePermissions) held(ctx context.Context, businessID, userID string, isOf func(guard.Route) bool) ([]string, error) {
	var declared []guard.Permission
	for _, route := range p.routes {
		if route.Permission != "" && isOf(route) {
			declared = append(declared, route.Permission)
		}
	}
	slices.Sort(declared)
	var held []string
	for _, permission := range slices.Compact(declared) {
		ok, err := p.granted.HasPermission(ctx, businessID, userID, permission)
		if err != nil {
			return nil, err
		}
		if ok {
			held = append(held, string(permission))
		}
	}
	return held, nil
}
