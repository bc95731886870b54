package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/seed"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

func (s *server) devSignIn(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		UserID     string        `json:"userId"`
		BusinessID seed.Optional `json:"businessId"`
	}
	if err := strictjson.Decode(r, &in, strictjson.Limits{}); err != nil {
		return err
	}
	if err := s.checkUser(r.Context(), in.UserID); err != nil {
		return err
	}
	businesses, err := s.cfg.Host.Businesses(r.Context(), in.UserID)
	if err != nil {
		return err
	}
	business := string(in.BusinessID)
	if business == "" && len(businesses) > 0 {
		business = businesses[0].ID
	}
	if business != "" && !slices.ContainsFunc(businesses, func(b oauthserver.Business) bool { return b.ID == business }) {
		return s.noMember(r.Context(), business, in.UserID)
	}
	cookie, err := s.people.StartSession(r, in.UserID, business)
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
	err := s.people.SetPermissions(r.Context(), in.BusinessID, in.UserID, own)
	if errors.Is(err, partner.ErrNotFound) {
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
	var role string
	switch err := json.Unmarshal(in.Role, &role); {
	case err == nil && string(in.Role) == "null":
	case err != nil, role != "owner" && role != "admin" && role != "member":
		return apierror.Invalid("role must be owner, admin, member or null")
	}
	if err := s.checkUser(r.Context(), in.UserID); err != nil {
		return err
	}
	if err := s.checkBusiness(r.Context(), in.BusinessID); err != nil {
		return err
	}
	if err := s.people.SetRole(r.Context(), in.BusinessID, in.UserID, role); err != nil {
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

// checkUser refuses a user who does not exist.
func (s *server) checkUser(ctx context.Context, userID string) error {
	if userID == "" {
		return apierror.Invalid("userId is missing")
	}
	ok, err := s.people.HasUser(ctx, userID)
	if err == nil && !ok {
		return apierror.NotFound("user " + userID)
	}
	return err
}

// checkBusiness refuses a business that does not exist.
func (s *server) checkBusiness(ctx context.Context, businessID string) error {
	if businessID == "" {
		return apierror.Invalid("businessId is missing")
	}
	ok, err := s.people.HasBusiness(ctx, businessID)
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
