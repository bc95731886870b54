package oauthserver

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
)

// MaxAppName is how long the name of an app may be, in characters.
const MaxAppName = 120

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

// CreateApp registers an app for an organization, unreviewed. Its error is a
// validation error of apierror that names everything that is wrong.
func (s *Server) CreateApp(ctx context.Context, n NewApp) (CreatedApp, error) {
	if err := s.CheckApp(n); err != nil {
		return CreatedApp{}, err
	}
	now := s.cfg.Clock.Now()
	app := App{
		ID: id.New(id.App, now), ClientID: id.New(id.Client, now), Type: n.Type, Status: AppActive, Origin: OriginConsole,
		Name: n.Name, OrganizationID: n.OrganizationID, RedirectURIs: n.RedirectURIs, Scopes: n.Scopes,
		AppURL: n.AppURL, PinnedVersion: n.PinnedVersion, CreatedAt: now,
	}
	if n.Type == Public {
		return CreatedApp{App: app}, s.cfg.Store.CreateApp(ctx, app, nil)
	}
	minted, record := newClientSecret(app.ID, now)
	if err := s.cfg.Store.CreateApp(ctx, app, []ClientSecret{record}); err != nil {
		return CreatedApp{}, err
	}
	return CreatedApp{App: app, Secret: minted.Reveal()}, nil
}

// CheckApp returns a validation error that names all that is wrong with an app,
// or nil. AppURL and PinnedVersion are the caller's to check.
func (s *Server) CheckApp(n NewApp) error {
	var v apierror.Validation
	checkName(&v, n.Name)
	if n.Type != Confidential && n.Type != Public {
		v.Add("type must be %s or %s", Confidential, Public)
	}
	checkRedirectURIs(&v, n.Type, n.RedirectURIs)
	s.checkScopes(&v, n.Scopes)
	return v.Err()
}

// checkName holds the name to one line: people read it when they are asked for
// consent.
func checkName(v *apierror.Validation, name string) {
	switch {
	case strings.TrimSpace(name) == "", utf8.RuneCountInString(name) > MaxAppName:
		v.Add("name must have 1 to %d characters", MaxAppName)
	case !isLine(name, MaxAppName):
		v.Add("name has a character that cannot be seen")
	}
}

func checkRedirectURIs(v *apierror.Validation, of ClientType, uris []string) {
	if len(uris) == 0 {
		v.Add("redirectUris must have at least one entry")
	}
	rules := RedirectRules{AllowQuery: true, AllowPrivateScheme: of == Public}
	for i, uri := range uris {
		if err := rules.Check(uri); err != nil {
			v.Add("redirectUris[%d] %v", i, err)
		}
	}
}

func (s *Server) checkScopes(v *apierror.Validation, scopes identity.Scopes) {
	if scopes.IsEmpty() {
		v.Add("scopes must have at least one entry")
	}
	if err := s.cfg.Scopes.CheckRequestable(scopes); err != nil {
		v.Add("scopes: %v", err)
	}
}
