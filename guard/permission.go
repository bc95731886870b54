package guard

import (
	"context"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
)

// Permission is something that a user may do in a business.
type Permission string

// AllPermissions stands for every permission, in [Roles].
const AllPermissions Permission = "*"

// Permissions is the second gate. It checks the user and the business of each call on
// routes that declare a permission. An error is an internal error.
type Permissions interface {
	HasPermission(ctx context.Context, businessID, userID string, permission Permission) (bool, error)
}

// Role is the role of a user in a business. The host chooses the names.
type Role string

// The roles of [DefaultRoles].
const (
	Owner  Role = "owner"
	Admin  Role = "admin"
	Member Role = "member"
)

// Roles lists the permissions of each role. A role that is missing has none.
type Roles map[Role][]Permission

// DefaultRoles lets owners and admins do everything.
func DefaultRoles() Roles {
	return Roles{Owner: {AllPermissions}, Admin: {AllPermissions}, Member: {}}
}

// Have reports whether the role has the permission.
func (r Roles) Have(role Role, permission Permission) bool {
	return slices.Contains(r[role], permission) || slices.Contains(r[role], AllPermissions)
}

// RoleFunc returns the current role of a user in a business; empty for a user without a
// role. An error is an internal error.
type RoleFunc func(ctx context.Context, businessID, userID string) (Role, error)

// Permissions returns the permissions of the user's role.
func (r Roles) Permissions(of RoleFunc) Permissions { return rolePermissions{r, of} }

type rolePermissions struct {
	roles Roles
	of    RoleFunc
}

func (p rolePermissions) HasPermission(ctx context.Context, businessID, userID string, permission Permission) (bool, error) {
	role, err := p.of(ctx, businessID, userID)
	if err != nil {
		return false, err
	}
	return p.roles.Have(role, permission), nil
}

// checkPermission is the second gate, for apps and people alike. It is about the
// business of the call, so there must be one. The permissions of a custom connection were
// decided when it was approved; those of a user are asked of the host.
func (s *Surface) checkPermission(ctx context.Context, c *call) error {
	if c.isSession() && c.principal.BusinessID == "" {
		return apierror.Entry{Status: http.StatusBadRequest, Message: "the session has no business: choose one first"}.New()
	}
	if c.route.Permission == "" {
		return nil
	}
	if c.principal.ForInstallation {
		if !slices.Contains(c.principal.Permissions, string(c.route.Permission)) {
			return codes.PermissionRequired.New(c.route.Permission)
		}
		return nil
	}
	ok, err := s.cfg.Permissions.HasPermission(ctx, c.principal.BusinessID, c.principal.UserID, c.route.Permission)
	if err != nil {
		return apierror.Failed("ask the host for permissions", err)
	}
	if !ok {
		return codes.PermissionRequired.New(c.route.Permission)
	}
	return nil
}

// InstallationPermissions returns the permissions that calls of a custom connection can need
// with these scopes, and that the user has in the business: those of the routes with
// Installations that the scopes open. They are sorted.
func (s *Surface) InstallationPermissions(ctx context.Context, businessID, userID string, scopes identity.Scopes) ([]string, error) {
	return s.held(ctx, businessID, userID, func(r Route) bool { return r.Installations && r.isOpenedBy(scopes) })
}

// UserPermissions returns the permissions that calls made for the user can need with these
// scopes, and that the user has in the business: those of the routes that the scopes open. They
// are sorted.
func (s *Surface) UserPermissions(ctx context.Context, businessID, userID string, scopes identity.Scopes) ([]string, error) {
	return s.held(ctx, businessID, userID, func(r Route) bool { return r.isOpenedBy(scopes) })
}

func (r Route) isOpenedBy(scopes identity.Scopes) bool {
	return r.Scope == AnyScope || scopes.Has(r.Scope)
}

// held returns the permissions of some routes that the user has in the business, sorted.
func (s *Surface) held(ctx context.Context, businessID, userID string, isOf func(Route) bool) ([]string, error) {
	var held []string
	for _, permission := range s.permissions(isOf) {
		ok, err := s.cfg.Permissions.HasPermission(ctx, businessID, userID, permission)
		if err != nil {
			return nil, err
		}
		if ok {
			held = append(held, string(permission))
		}
	}
	return held, nil
}

// permissions returns the permissions that some routes declare, each once, sorted.
func (s *Surface) permissions(isOf func(Route) bool) (declared []Permission) {
	for _, route := range s.routes {
		if route.Permission != "" && isOf(route) {
			declared = append(declared, route.Permission)
		}
	}
	slices.Sort(declared)
	return slices.Compact(declared)
}
