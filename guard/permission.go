package guard

import (
	"context"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
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
