package oauthserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
)

// NewApp is an app as its developer describes it.
type NewApp struct {
	Name           string
	Type           ClientType
	OrganizationID string
	RedirectURIs   []string
	Scopes         identity.Scopes
	AppURL         string
	PinnedVersion  string
}

// CreatedApp is a new app with its secret, which nobody will see again.
type CreatedApp struct {
	App    App
	Secret string // empty for a PUBLIC app
}

// CreateApp registers an app for an organization, unreviewed. Equal redirect URIs become
// one. Its error is a validation error of apierror that names everything that is wrong, or
// that the organization has Config.MaxApps apps.
func (s *Server) CreateApp(ctx context.Context, n NewApp) (CreatedApp, error) {
	if err := s.CheckApp(n); err != nil {
		return CreatedApp{}, err
	}
	now := s.cfg.Clock.Now()
	app := App{
		ID: id.New(id.App, now), ClientID: id.New(id.Client, now), Type: n.Type, Status: AppActive, Origin: OriginConsole,
		Name: n.Name, OrganizationID: n.OrganizationID, RedirectURIs: distinct(n.RedirectURIs), Scopes: n.Scopes,
		AppURL: n.AppURL, PinnedVersion: n.PinnedVersion, CreatedAt: now,
	}
	var created CreatedApp
	var secrets []ClientSecret
	if n.Type == Confidential {
		issued, record := newClientSecret(app.ID, now)
		created.Secret, secrets = issued.Reveal(), []ClientSecret{record}
	}
	var err error
	created.App, err = s.cfg.Store.RegisterApp(ctx, Registration{App: app, Secrets: secrets, Now: now, MaxApps: s.cfg.MaxApps})
	switch {
	case errors.Is(err, ErrTooManyApps):
		return CreatedApp{}, apierror.Invalid(s.tooManyApps()).WithCause(err)
	case err != nil:
		return CreatedApp{}, err
	}
	return created, nil
}

func (s *Server) tooManyApps() string {
	return fmt.Sprintf("an organization has at most %d apps", s.cfg.MaxApps)
}

// CheckApp returns a validation error that names all that is wrong with an app,
// or nil. AppURL and PinnedVersion are the caller's to check.
func (s *Server) CheckApp(n NewApp) error {
	var v apierror.Validation
	if err := CheckAppName(n.Name); err != nil {
		v.Add("name %v", err)
	}
	if n.Type != Confidential && n.Type != Public {
		v.Add("type must be %s or %s", Confidential, Public)
	}
	s.checkRedirectURIs(&v, n.Type, n.RedirectURIs)
	s.checkScopes(&v, n.Scopes)
	return v.Err()
}

func (s *Server) checkRedirectURIs(v *apierror.Validation, of ClientType, uris []string) {
	switch {
	case len(uris) == 0:
		v.Add("redirectUris must have at least one entry")
	case len(distinct(uris)) > s.cfg.MaxRedirectURIs:
		v.Add("an app has at most %d redirect URIs", s.cfg.MaxRedirectURIs)
		return
	}
	rules := RedirectRules{AllowQuery: true, AllowPrivateScheme: of == Public}
	for i, uri := range uris {
		if err := rules.Check(uri); err != nil {
			v.Add("redirectUris[%d] %v", i, err)
		}
	}
}

// distinct returns the values without repetitions, in their order.
func distinct(values []string) []string {
	seen := make(map[string]bool, len(values))
	kept := make([]string, 0, len(values))
	for _, value := range values {
		if !seen[value] {
			seen[value] = true
			kept = append(kept, value)
		}
	}
	return kept
}

func (s *Server) checkScopes(v *apierror.Validation, scopes identity.Scopes) {
	if scopes.IsEmpty() {
		v.Add("scopes must have at least one entry")
	}
	if err := s.cfg.Scopes.CheckRequestable(scopes); err != nil {
		v.Add("scopes: %v", err)
	}
}
