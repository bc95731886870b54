package books

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/storage"
)

// Role is the role of a person in a business.
type Role string

// The roles. Owners and admins have every permission, members have none.
const (
	RoleOwner  Role = "owner"
	RoleAdmin  Role = "admin"
	RoleMember Role = "member"
)

// The permissions, the second gate in front of some operations.
const (
	mayInstallApps    = "apps.install"
	mayManageAccounts = "accounts.manage"
	mayDeletePayments = "payments.delete"
	mayPostJournal    = "journal.post"
)

// Permissions returns the names of all permissions.
func Permissions() []string {
	return []string{mayInstallApps, mayManageAccounts, mayDeletePayments, mayPostJournal}
}

// User is a person who can sign in.
type User struct {
	ID, Email, Name string
	PasswordHash    string // by [HashPassword]
	IsOperator      bool   // one of the platform's own staff
}

// Membership is a business as one of its members sees it.
type Membership struct {
	BusinessID, Business string // the id and the name
	SandboxOf            string // an organization; empty for a real business
	Role                 Role
	Permissions          []string
}

func (m Membership) may(permission string) bool { return slices.Contains(m.Permissions, permission) }

// rolePermissions returns the permissions of each role, unless a member's own replace them.
func rolePermissions(r Role) []string {
	if r == RoleOwner || r == RoleAdmin {
		return Permissions()
	}
	return nil
}

// NormalEmail returns the spelling under which an address is kept, looked up and
// counted: two spellings of one account must not have two counters.
func NormalEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// User returns the user with the id. It returns ErrAbsent if there is none.
func (b *Books) User(ctx context.Context, id string) (User, error) {
	return b.findUser(ctx, "id", id)
}

func (b *Books) userByEmail(ctx context.Context, email string) (User, error) {
	return b.findUser(ctx, "email", NormalEmail(email))
}

func (b *Books) findUser(ctx context.Context, column, value string) (u User, err error) {
	err = one(ctx, b.store, "SELECT id, email, name, password_hash, is_operator FROM books_user WHERE "+column+" = $1", []any{value},
		&u.ID, &u.Email, &u.Name, &u.PasswordHash, &u.IsOperator)
	return u, err
}

// Memberships returns the businesses of a user, in the order of their positions.
func (b *Books) Memberships(ctx context.Context, userID string) ([]Membership, error) {
	var all []Membership
	err := storage.Each(ctx, b.store, `SELECT b.id, b.name, b.sandbox_of, m.Role, m.Permissions
		FROM books_member m JOIN books_business b ON b.id = m.business_id
		WHERE m.user_id = $1 ORDER BY b.position`, []any{userID}, func(scan func(...any) error) error {
		var m Membership
		var own *string
		if err := scan(&m.BusinessID, &m.Business, &m.SandboxOf, &m.Role, &own); err != nil {
			return err
		}
		m.Permissions = rolePermissions(m.Role)
		if own != nil {
			m.Permissions = nil
			if err := json.Unmarshal([]byte(*own), &m.Permissions); err != nil {
				return fmt.Errorf("permissions of %s in %s: %w", userID, m.BusinessID, err)
			}
		}
		all = append(all, m)
		return nil
	})
	return all, err
}

// membership returns the membership of a user in one business, or ErrAbsent.
func (b *Books) membership(ctx context.Context, userID, businessID string) (Membership, error) {
	all, err := b.Memberships(ctx, userID)
	if err != nil {
		return Membership{}, err
	}
	i := slices.IndexFunc(all, func(m Membership) bool { return m.BusinessID == businessID })
	if i < 0 {
		return Membership{}, ErrAbsent
	}
	return all[i], nil
}

// SetPermissions replaces the permissions that the role gives; nil restores those.
// It returns ErrAbsent if the user is not a member.
func (b *Books) SetPermissions(ctx context.Context, businessID, userID string, permissions []string) error {
	own, err := ownPermissions(permissions)
	if err != nil {
		return err
	}
	n, err := b.exec(ctx, "UPDATE books_member SET permissions = $1 WHERE business_id = $2 AND user_id = $3", own, businessID, userID)
	if err == nil && n == 0 {
		return ErrAbsent
	}
	return err
}

// SetRole makes a user a member of a business, or changes the member's role; an empty role
// ends the membership. It returns ErrAbsent if there is no such user or business.
func (b *Books) SetRole(ctx context.Context, businessID, userID string, role Role) error {
	if _, err := b.User(ctx, userID); err != nil {
		return err
	}
	if ok, err := b.HasBusiness(ctx, businessID); err != nil || !ok {
		return cmp.Or(err, ErrAbsent)
	}
	if role == "" {
		_, err := b.exec(ctx, "DELETE FROM books_member WHERE business_id = $1 AND user_id = $2", businessID, userID)
		return err
	}
	_, err := b.exec(ctx, `INSERT INTO books_member (business_id, user_id, role) VALUES ($1, $2, $3)
		ON CONFLICT (business_id, user_id) DO UPDATE SET role = excluded.role`, businessID, userID, string(role))
	return err
}

// HasBusiness reports whether there is a business with the id.
func (b *Books) HasBusiness(ctx context.Context, id string) (bool, error) {
	var name string
	err := one(ctx, b.store, "SELECT name FROM books_business WHERE id = $1", []any{id}, &name)
	if errors.Is(err, ErrAbsent) {
		return false, nil
	}
	return err == nil, err
}

// FirstOrganization returns the id of the organization with the first position. It returns
// ErrAbsent if there are no organizations.
func (b *Books) FirstOrganization(ctx context.Context) (id string, err error) {
	err = one(ctx, b.store, "SELECT id FROM books_organization ORDER BY position LIMIT 1", nil, &id)
	return id, err
}

// organizationsOf lists those that a user is a member of.
func (b *Books) organizationsOf(ctx context.Context, userID string) ([]console.Organization, error) {
	var all []console.Organization
	err := storage.Each(ctx, b.store, `SELECT o.id, o.name FROM books_organization_member m JOIN books_organization o ON o.id = m.organization_id
		WHERE m.user_id = $1 ORDER BY o.position`, []any{userID}, func(scan func(...any) error) error {
		var one console.Organization
		err := scan(&one.ID, &one.Name)
		all = append(all, one)
		return err
	})
	return all, err
}

// OrganizationName returns the name of an organization; empty if there is none with the id.
func (b *Books) OrganizationName(ctx context.Context, id string) (name string, err error) {
	err = one(ctx, b.store, "SELECT name FROM books_organization WHERE id = $1", []any{id}, &name)
	if errors.Is(err, ErrAbsent) {
		return "", nil
	}
	return name, err
}

// OrganizationOf returns the id of the first organization that a user is a member of. It
// returns ErrAbsent if there is none.
func (b *Books) OrganizationOf(ctx context.Context, userID string) (id string, err error) {
	err = one(ctx, b.store, `SELECT o.id FROM books_organization_member m JOIN books_organization o ON o.id = m.organization_id
		WHERE m.user_id = $1 ORDER BY o.position LIMIT 1`, []any{userID}, &id)
	return id, err
}

// likePart returns the pattern of texts that contain a part, in lower case.
func likePart(part string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(part)) + "%"
}

// findUsers lists users whose id or email contains the query.
func (b *Books) findUsers(ctx context.Context, query string, limit int) ([]operator.User, error) {
	var all []operator.User
	err := storage.Each(ctx, b.store, `SELECT id, email, name, is_operator FROM books_user
		WHERE LOWER(id) LIKE $1 ESCAPE '!' OR LOWER(email) LIKE $1 ESCAPE '!' ORDER BY id LIMIT $2`, []any{likePart(query), limit}, func(scan func(...any) error) error {
		var one operator.User
		err := scan(&one.ID, &one.Email, &one.Name, &one.IsOperator)
		all = append(all, one)
		return err
	})
	return all, err
}

// findOrganizations lists organizations whose id is the query, or whose name contains it.
func (b *Books) findOrganizations(ctx context.Context, query string, limit int) ([]console.Organization, error) {
	var all []console.Organization
	err := storage.Each(ctx, b.store, "SELECT id, name FROM books_organization WHERE id = $1 OR LOWER(name) LIKE $2 ESCAPE '!' ORDER BY id LIMIT $3",
		[]any{query, likePart(query), limit}, func(scan func(...any) error) error {
			var one console.Organization
			err := scan(&one.ID, &one.Name)
			all = append(all, one)
			return err
		})
	return all, err
}

// EraseUser deletes a user with the sessions and memberships. It does nothing when there is
// no such user.
func (b *Books) EraseUser(ctx context.Context, id string) error {
	return b.store.InTx(ctx, func(tx storage.Tx) error {
		for _, from := range []string{"books_session WHERE user_id", "books_member WHERE user_id", "books_organization_member WHERE user_id", "books_user WHERE id"} {
			if _, err := tx.Exec(ctx, "DELETE FROM "+from+" = $1", id); err != nil {
				return err
			}
		}
		return nil
	})
}
