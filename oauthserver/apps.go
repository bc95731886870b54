package oauthserver

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// MaxAppName is how long the name of an app may be, in characters.
const MaxAppName = 120

// secretPrefix is how much of a client secret is kept to tell it from others:
// its kind and four characters.
const secretPrefix = len("pk_cs_") + 4

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
// or nil.
func (s *Server) CheckApp(n NewApp) error {
	var v apierror.Validation
	if name := strings.TrimSpace(n.Name); name == "" || utf8.RuneCountInString(n.Name) > MaxAppName {
		v.Add("name must have 1 to %d characters", MaxAppName)
	}
	if n.Type != Confidential && n.Type != Public {
		v.Add("type must be %s or %s", Confidential, Public)
	}
	if len(n.RedirectURIs) == 0 {
		v.Add("redirectUris must have at least one entry")
	}
	rules := RedirectRules{AllowQuery: true, AllowPrivateScheme: n.Type == Public}
	for i, uri := range n.RedirectURIs {
		if err := rules.Check(uri); err != nil {
			v.Add("redirectUris[%d] %v", i, err)
		}
	}
	if n.Scopes.IsEmpty() {
		v.Add("scopes must have at least one entry")
	}
	if err := s.cfg.Scopes.CheckRequestable(n.Scopes); err != nil {
		v.Add("scopes: %v", err)
	}
	return v.Err()
}

func newClientSecret(appID string, now time.Time) (secret.Secret, ClientSecret) {
	minted := secret.New(secret.ClientSecret)
	return minted, ClientSecret{
		ID: id.New(id.Secret, now), AppID: appID, Digest: minted.Digest(), Prefix: minted.Reveal()[:secretPrefix], CreatedAt: now,
	}
}

// AddClientSecret gives a confidential app one more secret and returns it, for
// the only time. The ones before stay valid until the developer ends them;
// [ErrNotFound].
func (s *Server) AddClientSecret(ctx context.Context, appID string) (string, ClientSecret, error) {
	app, err := s.cfg.Store.App(ctx, appID)
	if err != nil {
		return "", ClientSecret{}, err
	}
	if app.Type != Confidential {
		return "", ClientSecret{}, fmt.Errorf("add client secret: a %s app has none", app.Type)
	}
	minted, record := newClientSecret(appID, s.cfg.Clock.Now())
	if err := s.cfg.Store.AddClientSecret(ctx, record); err != nil {
		return "", ClientSecret{}, err
	}
	return minted.Reveal(), record, nil
}

// EndClientSecret ends a secret at once; [ErrNotFound] when it is not the app's
// or has ended already.
func (s *Server) EndClientSecret(ctx context.Context, appID, secretID string) error {
	return s.cfg.Store.EndClientSecret(ctx, appID, secretID, s.cfg.Clock.Now())
}
