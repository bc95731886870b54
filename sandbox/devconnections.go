package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/seed"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// connection names an app in a business, and for some calls a user.
type connection struct {
	ClientID   string `json:"clientId"`
	BusinessID string `json:"businessId"`
}

type userConnection struct {
	ClientID   string `json:"clientId"`
	BusinessID string `json:"businessId"`
	UserID     string `json:"userId"`
}

func (s *server) devUninstall(w http.ResponseWriter, r *http.Request) error {
	return s.devDisconnect(w, r, s.oauth.Uninstall)
}

func (s *server) devRevokeAccess(w http.ResponseWriter, r *http.Request) error {
	return s.devDisconnect(w, r, s.oauth.RevokeAccess)
}

func (s *server) devDisconnect(w http.ResponseWriter, r *http.Request, end func(ctx context.Context, appID, businessID, userID string) error) error {
	var in connection
	if err := strictjson.Decode(r, &in, strictjson.Limits{}); err != nil {
		return err
	}
	app, err := s.appOf(r.Context(), in.ClientID)
	if err != nil {
		return err
	}
	err = end(r.Context(), app.ID, in.BusinessID, "")
	if errors.Is(err, partner.ErrNotFound) {
		return notInstalled(in.ClientID, in.BusinessID)
	}
	if err != nil {
		return err
	}
	return done(w)
}

func notInstalled(clientID, businessID string) error {
	return apierror.NotFound("installation of client " + clientID + " in business " + businessID)
}

func (s *server) devInstallationScopes(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		ClientID   string          `json:"clientId"`
		BusinessID string          `json:"businessId"`
		Scopes     *seed.ScopeList `json:"scopes"`
	}
	if err := strictjson.Decode(r, &in, strictjson.Limits{}); err != nil {
		return err
	}
	if in.Scopes == nil {
		return apierror.Invalid("scopes is missing")
	}
	if err := s.cfg.Scopes.CheckRequestable(in.Scopes.Scopes); err != nil {
		return apierror.Invalid("scopes: " + err.Error())
	}
	app, err := s.appOf(r.Context(), in.ClientID)
	if err != nil {
		return err
	}
	err = s.oauth.SetInstallationScopes(r.Context(), app.ID, in.BusinessID, in.Scopes.Scopes)
	if errors.Is(err, partner.ErrNotFound) {
		return notInstalled(in.ClientID, in.BusinessID)
	}
	if err != nil {
		return err
	}
	return done(w)
}

func (s *server) devRevokeConsent(w http.ResponseWriter, r *http.Request) error {
	var in userConnection
	if err := strictjson.Decode(r, &in, strictjson.Limits{}); err != nil {
		return err
	}
	app, err := s.appOf(r.Context(), in.ClientID)
	if err != nil {
		return err
	}
	err = s.oauth.RevokeConsent(r.Context(), app.ID, in.BusinessID, in.UserID)
	if errors.Is(err, partner.ErrNotFound) {
		return apierror.NotFound("consent of user " + in.UserID + " to client " + in.ClientID + " in business " + in.BusinessID)
	}
	if err != nil {
		return err
	}
	return done(w)
}

// devTakeOver does what the person would do on the page of connected apps.
func (s *server) devTakeOver(w http.ResponseWriter, r *http.Request) error {
	var in userConnection
	if err := strictjson.Decode(r, &in, strictjson.Limits{}); err != nil {
		return err
	}
	app, err := s.appOf(r.Context(), in.ClientID)
	if err != nil {
		return err
	}
	if err := s.checkUser(r.Context(), in.UserID); err != nil {
		return err
	}
	if err := s.checkBusiness(r.Context(), in.BusinessID); err != nil {
		return err
	}
	err = s.oauth.TakeOver(r.Context(), app.ID, in.BusinessID, in.UserID)
	if errors.Is(err, partner.ErrNotFound) {
		return notInstalled(in.ClientID, in.BusinessID)
	}
	if err != nil {
		return err
	}
	return done(w)
}

func (s *server) devSessionToken(w http.ResponseWriter, r *http.Request) error {
	var in userConnection
	if err := strictjson.Decode(r, &in, strictjson.Limits{}); err != nil {
		return err
	}
	if _, err := s.appOf(r.Context(), in.ClientID); err != nil {
		return err
	}
	if err := s.checkUser(r.Context(), in.UserID); err != nil {
		return err
	}
	if err := s.checkBusiness(r.Context(), in.BusinessID); err != nil {
		return err
	}
	token, err := s.oauth.IssueSessionToken(r.Context(), oauthserver.NewSessionToken{
		ClientID: in.ClientID, BusinessID: in.BusinessID, UserID: in.UserID,
	})
	for _, refusal := range []error{
		oauthserver.ErrPublicApp, oauthserver.ErrAppNotUsable, oauthserver.ErrNotInstalled, oauthserver.ErrUserNotActive, oauthserver.ErrNotMember,
	} {
		if errors.Is(err, refusal) {
			return apierror.Invalid(refusal.Error()).WithCause(err)
		}
	}
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"sessionToken": token})
}

// devRecordEvent records an event by itself, as a backend records its own
// with what they are about.
func (s *server) devRecordEvent(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		BusinessID string          `json:"businessId"`
		Type       string          `json:"type"`
		Data       json.RawMessage `json:"data"`
		ClientID   seed.Optional   `json:"clientId"`
	}
	if err := strictjson.Decode(r, &in, strictjson.Limits{}); err != nil {
		return err
	}
	if err := s.checkBusiness(r.Context(), in.BusinessID); err != nil {
		return err
	}
	definition, ok := s.platform.Events().Catalog().Lookup(in.Type)
	switch {
	case !ok:
		return apierror.Invalid("type must be the name of an event in the catalog, such as invoice.created")
	case definition.Audience == events.AudienceApp && in.ClientID == "":
		return apierror.Invalid("clientId is missing: " + in.Type + " is for one app")
	case !strings.HasPrefix(string(in.Data), "{"):
		return apierror.Invalid("data must be an object")
	}
	draft := events.Draft{Type: in.Type, BusinessID: in.BusinessID, Data: in.Data}
	if definition.Audience == events.AudienceApp { // otherwise clientId says nothing
		app, err := s.appOf(r.Context(), string(in.ClientID))
		if err != nil {
			return err
		}
		draft.AppID = app.ID
	}
	// A log of its own: a receiver is tested with any data, not only with what follows the schema.
	log, err := events.New(events.Config{Store: s.store, Catalog: s.platform.Events().Catalog(), Clock: s.clock})
	if err != nil {
		return err
	}
	recorded, err := log.Record(r.Context(), draft)
	if errors.Is(err, events.ErrInvalidDraft) {
		return apierror.Invalid(err.Error())
	}
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"id": recorded[0].ID})
}

// recordEvent is for the pages of the developer console.
func (s *server) recordEvent(ctx context.Context, event events.Draft) error {
	_, err := s.platform.Events().Record(ctx, event)
	return err
}
