package sandbox

import (
	"errors"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/seed"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// maxVersion bounds a pinned version. Its content is not checked: partner authors
// can try a pin that names a version which does not exist.
const maxVersion = 64

// devApp reads the body into in and finds the app of the path.
func (s *server) devApp(r *http.Request, in any) (partner.App, error) {
	if err := strictjson.Decode(r, in, strictjson.Limits{}); err != nil {
		return partner.App{}, err
	}
	return s.appOf(r.Context(), r.PathValue("clientId"))
}

func (s *server) devAppStatus(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Status partner.AppStatus `json:"status"`
	}
	app, err := s.devApp(r, &in)
	if err != nil {
		return err
	}
	switch in.Status {
	case partner.AppActive, partner.AppSuspended, partner.AppDeactivated:
	default:
		return apierror.Invalid("status must be ACTIVE, SUSPENDED or DEACTIVATED")
	}
	err = s.oauth.SetAppStatus(r.Context(), app.ID, in.Status)
	if errors.Is(err, oauthstore.ErrDeactivated) {
		final := apierror.Entry{Status: http.StatusConflict, Message: "client {p0} is deactivated, which is final"}
		return final.New(app.ClientID)
	}
	if err != nil {
		return err
	}
	return done(w)
}

// devListing is the reviewer's step on the open revision of an app's listing.
func (s *server) devListing(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		State consolestore.RevisionState `json:"state"`
	}
	app, err := s.devApp(r, &in)
	if err != nil {
		return err
	}
	switch in.State {
	case consolestore.RevisionInReview, consolestore.RevisionChangesRequested, consolestore.RevisionRejected, consolestore.RevisionApproved:
	default:
		return apierror.Invalid("state must be in_review, changes_requested, rejected or approved")
	}
	if _, err := s.platform.Console().ReviewListing(r.Context(), console.Review{AppID: app.ID, State: in.State}); err != nil {
		return err
	}
	return done(w)
}

func (s *server) devAppReviewed(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Reviewed *bool `json:"reviewed"`
	}
	app, err := s.devApp(r, &in)
	if err != nil {
		return err
	}
	if in.Reviewed == nil {
		return apierror.Invalid("reviewed is missing")
	}
	if err := s.oauth.SetReviewed(r.Context(), app.ID, *in.Reviewed); err != nil {
		return err
	}
	return done(w)
}

func (s *server) devAppScopes(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Scopes *seed.ScopeList `json:"scopes"`
	}
	app, err := s.devApp(r, &in)
	if err != nil {
		return err
	}
	if in.Scopes == nil {
		return apierror.Invalid("scopes is missing")
	}
	if err := s.cfg.Scopes.CheckRequestable(in.Scopes.Scopes); err != nil {
		return apierror.Invalid("scopes: " + err.Error())
	}
	return s.devChange(w, r, app, func(a *partner.App) {
		if a.Scopes = in.Scopes.Scopes; a.Reviewed {
			a.ReviewedAs.Scopes = a.Scopes
		}
	})
}

func (s *server) devAppVersion(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		PinnedVersion seed.Optional `json:"pinnedVersion"` // null or empty: the current one
	}
	app, err := s.devApp(r, &in)
	if err != nil {
		return err
	}
	if len(in.PinnedVersion) > maxVersion {
		return apierror.Invalid("pinnedVersion is longer than 64 characters")
	}
	return s.devChange(w, r, app, func(a *partner.App) { a.PinnedVersion = string(in.PinnedVersion) })
}

func (s *server) devChange(w http.ResponseWriter, r *http.Request, app partner.App, change func(*partner.App)) error {
	_, err := s.store.UpdateApp(r.Context(), app.ID, func(a partner.App) (partner.App, error) {
		change(&a)
		return a, nil
	})
	if err != nil {
		return err
	}
	return done(w)
}
