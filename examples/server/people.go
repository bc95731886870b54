package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/examples/books"
	"github.com/partnerkit/partnerkit/examples/server/fixtures"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/sandbox"
	"github.com/partnerkit/partnerkit/storage"
)

var _ sandbox.People = (*backend)(nil)

// Origin implements sandbox.People.
func (b *backend) Origin(ctx context.Context) (string, error) {
	origin, err := b.books.Origin(ctx)
	if errors.Is(err, books.ErrAbsent) {
		return "", nil
	}
	return origin, err
}

// Fill implements sandbox.People.
func (b *backend) Fill(ctx context.Context, origin string, data json.RawMessage, apps func(storage.Tx) error) (bool, error) {
	return fixtures.Fill(ctx, b.books, fixtures.Source{Origin: origin, Text: data, Now: b.now()}, apps)
}

// StartSession implements sandbox.People.
func (b *backend) StartSession(r *http.Request, userID, businessID string) (*http.Cookie, error) {
	return b.site.StartSession(r, userID, businessID)
}

// HasUser implements sandbox.People.
func (b *backend) HasUser(ctx context.Context, userID string) (bool, error) {
	_, ok, err := b.User(ctx, userID)
	return ok, err
}

// HasBusiness implements sandbox.People.
func (b *backend) HasBusiness(ctx context.Context, businessID string) (bool, error) {
	return b.books.HasBusiness(ctx, businessID)
}

// SetRole implements sandbox.People.
func (b *backend) SetRole(ctx context.Context, businessID, userID, role string) error {
	return b.books.SetRole(ctx, businessID, userID, books.Role(role))
}

// SetPermissions implements sandbox.People.
func (b *backend) SetPermissions(ctx context.Context, businessID, userID string, permissions []string) error {
	for _, name := range permissions {
		if !slices.Contains(books.Permissions(), name) {
			return apierror.Invalid("permissions: " + name + " is none of " + strings.Join(books.Permissions(), ", "))
		}
	}
	err := b.books.SetPermissions(ctx, businessID, userID, permissions)
	if errors.Is(err, books.ErrAbsent) {
		return partner.ErrNotFound
	}
	return err
}

// FirstOrganization implements sandbox.People.
func (b *backend) FirstOrganization(ctx context.Context) (string, error) {
	id, err := b.books.FirstOrganization(ctx)
	if errors.Is(err, books.ErrAbsent) {
		return "", nil
	}
	return id, err
}
