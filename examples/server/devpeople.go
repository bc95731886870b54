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
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/strictjson"
)

func (s *server) devSignIn(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		UserID     string            `json:"userId"`
		BusinessID fixtures.Optional `json:"businessId"`
	}
	if err := strictjson.Decode(r, &in, strictjson.Limits{}); err != nil {
		return err
	}
	if err := s.checkUser(r.Context(), in.UserID); err != nil {
		return err
	}
	memberships, err := s.books.Memberships(r.Context(), in.UserID)
	if err != nil {
		return err
	}
	business := string(in.BusinessID)
	if business == "" && len(memberships) > 0 {
		business = memberships[0].BusinessID
	}
	if business != "" && !slices.ContainsFunc(memberships, func(m books.Membership) bool { return m.BusinessID == business }) {
		return s.noMember(r.Context(), business, in.UserID)
	}
	cookie, err := s.site.StartSession(r, in.UserID, business)
	if err != nil {
		return err
	}
	http.SetCookie(w, cookie)
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"cookie": cookie.Name + "=" + cookie.Value})
}

func (s *server) devPermissions(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		BusinessID  string    `json:"businessId"`
		UserID      string    `json:"userId"`
		Permissions *[]string `json:"permissions"` // null: what the role gives
	}
	if err := strictjson.Decode(r, &in, strictjson.Limits{}); err != nil {
		return err
	}
	var own []string
	if in.Permissions != nil {
		own = append([]string{}, *in.Permissions...)
	}
	for _, name := range own {
		if !slices.Contains(books.Permissions(), name) {
			return apierror.Invalid("permissions: " + name + " is none of " + strings.Join(books.Permissions(), ", "))
		}
	}
	err := s.books.SetPermissions(r.Context(), in.BusinessID, in.UserID, own)
	if errors.Is(err, books.ErrAbsent) {
		return s.noMember(r.Context(), in.BusinessID, in.UserID)
	}
	if err != nil {
		return err
	}
	return done(w)
}

func (s *server) devMembership(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		BusinessID string          `json:"businessId"`
		UserID     string          `json:"userId"`
		Role       json.RawMessage `json:"role"` // null: the user leaves
	}
	if err := strictjson.Decode(r, &in, strictjson.Limits{}); err != nil {
		return err
	}
	var role books.Role
	switch err := json.Unmarshal(in.Role, &role); {
	case err == nil && string(in.Role) == "null":
	case err != nil, role != books.RoleOwner && role != books.RoleAdmin && role != books.RoleMember:
		return apierror.Invalid("role must be owner, admin, member or null")
	}
	if err := s.checkUser(r.Context(), in.UserID); err != nil {
		return err
	}
	if err := s.checkBusiness(r.Context(), in.BusinessID); err != nil {
		return err
	}
	if err := s.books.SetRole(r.Context(), in.BusinessID, in.UserID, role); err != nil {
		return err
	}
	if role == "" {
		if err := s.platform.MemberLeft(r.Context(), in.BusinessID, in.UserID); err != nil {
			return err
		}
	}
	return done(w)
}

func (s *server) devUserStatus(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Status identity.UserStatus `json:"status"`
	}
	if err := strictjson.Decode(r, &in, strictjson.Limits{}); err != nil {
		return err
	}
	switch in.Status {
	case identity.UserActive, identity.UserSuspended, identity.UserRestricted:
	default:
		return apierror.Invalid("status must be ACTIVE, SUSPENDED or RESTRICTED")
	}
	userID := r.PathValue("id")
	if err := s.checkUser(r.Context(), userID); err != nil {
		return err
	}
	if err := s.oauth.SetUserStatus(r.Context(), userID, in.Status); err != nil {
		return err
	}
	return done(w)
}

// checkUser refuses a user that the books do not have.
func (s *server) checkUser(ctx context.Context, userID string) error {
	if userID == "" {
		return apierror.Invalid("userId is missing")
	}
	_, err := s.books.User(ctx, userID)
	if errors.Is(err, books.ErrAbsent) {
		return apierror.NotFound("user " + userID)
	}
	return err
}

// checkBusiness refuses a business that the books do not have.
func (s *server) checkBusiness(ctx context.Context, businessID string) error {
	if businessID == "" {
		return apierror.Invalid("businessId is missing")
	}
	ok, err := s.books.HasBusiness(ctx, businessID)
	if err == nil && !ok {
		return apierror.NotFound("business " + businessID)
	}
	return err
}

// noMember returns the error for an unknown business, an unknown user, or a user who is not
// a member.
func (s *server) noMember(ctx context.Context, businessID, userID string) error {
	if err := s.checkUser(ctx, userID); err != nil {
		return err
	}
	if err := s.checkBusiness(ctx, businessID); err != nil {
		return err
	}
	return apierror.Invalid("user " + userID + " is not a member of business " + businessID)
}
