package oauthserver

import (
	"context"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
)

// AppChange is what a developer changes about an app; nil leaves a member alone.
type AppChange struct {
	Name          *string
	RedirectURIs  *[]string
	Scopes        *identity.Scopes
	AppURL        *string // empty: none
	PinnedVersion *string // empty: the current version
}

// CheckChange is [Server.CheckApp] for a change of an app of this type. What is not
// changed is not looked at.
func (s *Server) CheckChange(of ClientType, c AppChange) error {
	var v apierror.Validation
	if c.Name != nil {
		if err := CheckAppName(*c.Name); err != nil {
			v.Add("name %v", err)
		}
	}
	if c.RedirectURIs != nil {
		s.checkRedirectURIs(&v, of, *c.RedirectURIs)
	}
	if c.Scopes != nil {
		s.checkScopes(&v, *c.Scopes)
	}
	return v.Err()
}

// UpdateApp changes an app; [ErrNotFound], or an error of apierror: what is wrong
// with the change, or that the app was deactivated. Of changes at the same time
// none undoes another's members.
func (s *Server) UpdateApp(ctx context.Context, appID string, c AppChange) (App, error) {
	return s.cfg.Store.UpdateApp(ctx, appID, func(a App) (App, error) {
		if a.Status == AppDeactivated {
			return App{}, apierror.New(apierror.AppDeactivated)
		}
		if err := s.CheckChange(a.Type, c); err != nil {
			return App{}, err
		}
		set(&a.Name, c.Name)
		if c.RedirectURIs != nil {
			a.RedirectURIs = distinct(*c.RedirectURIs)
		}
		set(&a.Scopes, c.Scopes)
		set(&a.AppURL, c.AppURL)
		set(&a.PinnedVersion, c.PinnedVersion)
		return a, nil
	})
}

func set[T any](member *T, value *T) {
	if value != nil {
		*member = *value
	}
}
