package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/storage"
)

// role is what a person is in a business.
type role string

const (
	owner  role = "owner"
	admin  role = "admin"
	member role = "member"
)

// The permissions, the second gate in front of some operations.
const (
	mayInstallApps    = "apps.install"
	mayManageAccounts = "accounts.manage"
	mayDeletePayments = "payments.delete"
	mayPostJournal    = "journal.post"
)

var permissions = []string{mayInstallApps, mayManageAccounts, mayDeletePayments, mayPostJournal}

// user is somebody who can sign in.
type user struct{ id, email, name, passwordHash string }

// membership is a business as one of its members sees it.
type membership struct {
	businessID, business string
	sandboxOf            string
	role                 role
	permissions          []string
}

func (m membership) may(permission string) bool { return slices.Contains(m.permissions, permission) }

// rolePermissions are what a role gives, unless a member's own replace them.
func rolePermissions(r role) []string {
	if r == owner || r == admin {
		return permissions
	}
	return nil
}

// normalEmail is the spelling under which an address is kept, looked up and
// counted: two spellings of one account must not have two counters.
func normalEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

func (b *books) user(ctx context.Context, id string) (user, error) {
	return b.findUser(ctx, "id", id)
}

func (b *books) userByEmail(ctx context.Context, email string) (user, error) {
	return b.findUser(ctx, "email", normalEmail(email))
}

func (b *books) findUser(ctx context.Context, column, value string) (u user, err error) {
	err = one(ctx, b.store, "SELECT id, email, name, password_hash FROM books_user WHERE "+column+" = $1", []any{value},
		&u.id, &u.email, &u.name, &u.passwordHash)
	return u, err
}

// memberships are the businesses of a user, in the order of the books.
func (b *books) memberships(ctx context.Context, userID string) ([]membership, error) {
	var all []membership
	err := storage.Each(ctx, b.store, `SELECT b.id, b.name, b.sandbox_of, m.role, m.permissions
		FROM books_member m JOIN books_business b ON b.id = m.business_id
		WHERE m.user_id = $1 ORDER BY b.position`, []any{userID}, func(scan func(...any) error) error {
		var m membership
		var own *string
		if err := scan(&m.businessID, &m.business, &m.sandboxOf, &m.role, &own); err != nil {
			return err
		}
		m.permissions = rolePermissions(m.role)
		if own != nil {
			m.permissions = nil
			if err := json.Unmarshal([]byte(*own), &m.permissions); err != nil {
				return fmt.Errorf("permissions of %s in %s: %w", userID, m.businessID, err)
			}
		}
		all = append(all, m)
		return nil
	})
	return all, err
}

// membership is that of a user in one business; errAbsent.
func (b *books) membership(ctx context.Context, userID, businessID string) (membership, error) {
	all, err := b.memberships(ctx, userID)
	if err != nil {
		return membership{}, err
	}
	i := slices.IndexFunc(all, func(m membership) bool { return m.businessID == businessID })
	if i < 0 {
		return membership{}, errAbsent
	}
	return all[i], nil
}

// setPermissions replaces what the role gives; nil gives that back. errAbsent
// when the user is no member.
func (b *books) setPermissions(ctx context.Context, businessID, userID string, permissions []string) error {
	var own *string
	if permissions != nil {
		text, err := json.Marshal(permissions)
		if err != nil {
			return err
		}
		own = new(string(text))
	}
	n, err := b.exec(ctx, "UPDATE books_member SET permissions = $1 WHERE business_id = $2 AND user_id = $3", own, businessID, userID)
	if err == nil && n == 0 {
		return errAbsent
	}
	return err
}

func (b *books) hasBusiness(ctx context.Context, id string) (bool, error) {
	var name string
	err := one(ctx, b.store, "SELECT name FROM books_business WHERE id = $1", []any{id}, &name)
	if errors.Is(err, errAbsent) {
		return false, nil
	}
	return err == nil, err
}

// firstOrganization is the one that comes first in the fixtures; errAbsent.
func (b *books) firstOrganization(ctx context.Context) (id string, err error) {
	err = one(ctx, b.store, "SELECT id FROM books_organization ORDER BY position LIMIT 1", nil, &id)
	return id, err
}

// organizationsOf lists those that a user is a member of.
func (b *books) organizationsOf(ctx context.Context, userID string) ([]console.Organization, error) {
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

// organizationOf is the first one that a user is a member of; errAbsent.
func (b *books) organizationOf(ctx context.Context, userID string) (id string, err error) {
	err = one(ctx, b.store, `SELECT o.id FROM books_organization_member m JOIN books_organization o ON o.id = m.organization_id
		WHERE m.user_id = $1 ORDER BY o.position LIMIT 1`, []any{userID}, &id)
	return id, err
}
