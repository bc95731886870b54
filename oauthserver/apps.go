package oauthserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver/internal/clientmetadata"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// NewApp is an app as its developer describes it.
type NewApp struct {
	Name           string
	Type           partner.ClientType
	OrganizationID string
	RedirectURIs   []string
	Scopes         identity.Scopes
	AppURL         string
	PinnedVersion  string
}

// MaxAppName is the maximum length of an app's name, in characters.
const MaxAppName = clientmetadata.MaxName

// AppNameProblem returns what is wrong with the name of an app, such as "must have 1 to 120
// characters"; empty if the app may have it. People read the name when they are asked for
// consent: it is one line of 1 to [MaxAppName] characters, at least one of which is visible,
// without characters that change how the text around it reads.
func AppNameProblem(name string) string { return clientmetadata.NameProblem(name) }

// CreatedApp is a new app with its secret, which cannot be read again.
type CreatedApp struct {
	App    partner.App
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
	app := partner.App{
		ID: id.New(id.App, now), ClientID: id.New(id.Client, now), Type: n.Type, Status: partner.AppActive, Origin: partner.OriginConsole,
		Name: n.Name, OrganizationID: n.OrganizationID, RedirectURIs: uri.Distinct(n.RedirectURIs), Scopes: n.Scopes,
		AppURL: n.AppURL, PinnedVersion: n.PinnedVersion, CreatedAt: now, Version: 1,
	}
	app, issued, err := s.core.AddApp(ctx, app, nil)
	switch {
	case errors.Is(err, oauthstore.ErrTooManyApps):
		return CreatedApp{}, apierror.Invalid(s.core.TooManyApps()).WithCause(err)
	case err != nil:
		return CreatedApp{}, err
	}
	return CreatedApp{App: app, Secret: issued.Reveal()}, nil
}

// CheckApp returns a validation error that names all that is wrong with an app,
// or nil. AppURL and PinnedVersion are the caller's to check.
func (s *Server) CheckApp(n NewApp) error {
	var v apierror.Validation
	if problem := AppNameProblem(n.Name); problem != "" {
		v.Add("name", "%s", problem)
	}
	if n.Type != partner.Confidential && n.Type != partner.Public {
		v.Add("type", "must be %s or %s", partner.Confidential, partner.Public)
	}
	s.checkRedirectURIs(&v, n.Type, n.RedirectURIs)
	s.checkScopes(&v, n.Scopes)
	return v.Err()
}

func (s *Server) checkRedirectURIs(v *apierror.Validation, of partner.ClientType, uris []string) {
	switch {
	case len(uris) == 0:
		v.Add("redirectUris", "must have at least one entry")
	case len(uri.Distinct(uris)) > s.cfg.MaxRedirectURIs:
		v.AddProblem(apierror.Problem{Path: "redirectUris", Text: fmt.Sprintf("an app has at most %d redirect URIs", s.cfg.MaxRedirectURIs)})
		return
	}
	rules := RedirectRules{AllowQuery: true, AllowPrivateScheme: of == partner.Public}
	for i, one := range uris {
		if problem := rules.Problem(one); problem != "" {
			v.Add(fmt.Sprintf("redirectUris[%d]", i), "%s", problem)
		}
	}
}

func (s *Server) checkScopes(v *apierror.Validation, scopes identity.Scopes) {
	if scopes.IsEmpty() {
		v.Add("scopes", "must have at least one entry")
	}
	if err := s.cfg.Scopes.CheckRequestable(scopes); err != nil {
		v.AddProblem(apierror.Problem{Path: "scopes", Text: "scopes: " + err.Error()})
	}
}

// AppChange is a change of an app by its developer. Members that are nil are not changed.
type AppChange struct {
	Name          *string
	RedirectURIs  *[]string
	Scopes        *identity.Scopes
	AppURL        *string // empty: none
	PinnedVersion *string // empty: the current version
	// CustomBusinessID names the business for a custom connection, or none if it is empty,
	// which ends the connection that was approved. Of By, UserID, ByDeveloper and Token are
	// those of the audit log's entry about that end.
	CustomBusinessID *string
	By               audit.Entry
}

// HasCustomConnections reports whether Options.CustomConnections is set.
func (s *Server) HasCustomConnections() bool { return s.cfg.CustomConnections }

// maxBusinessID is how long a named business id may be, in bytes.
const maxBusinessID = 255

// CheckChange is [Server.CheckApp] for a change of an app of this type. Members that are not
// changed are not checked.
func (s *Server) CheckChange(of partner.ClientType, c AppChange) error {
	var v apierror.Validation
	if c.Name != nil {
		if problem := AppNameProblem(*c.Name); problem != "" {
			v.Add("name", "%s", problem)
		}
	}
	if c.RedirectURIs != nil {
		s.checkRedirectURIs(&v, of, *c.RedirectURIs)
	}
	if c.Scopes != nil {
		s.checkScopes(&v, *c.Scopes)
	}
	if c.CustomBusinessID != nil {
		s.checkCustomBusiness(&v, of, *c.CustomBusinessID)
	}
	return v.Err()
}

// checkCustomBusiness accepts any id, so that nothing about businesses is learned from it.
func (s *Server) checkCustomBusiness(v *apierror.Validation, of partner.ClientType, businessID string) {
	switch {
	case !s.cfg.CustomConnections:
		v.Add("customBusinessId", "is not a known member")
	case len(businessID) > maxBusinessID || !text.IsStorable(businessID):
		v.Add("customBusinessId", "must be the id of a business, of at most %d bytes", maxBusinessID)
	case of != partner.Confidential && businessID != "":
		v.Add("customBusinessId", "cannot be set: custom connections are for %s apps", partner.Confidential)
	}
}

// UpdateApp changes an app. It returns [partner.ErrNotFound], or an apierror error if the change is
// invalid, the app was deactivated, or another business is named while one has approved a
// custom connection. Concurrent changes of different members do not undo each other.
func (s *Server) UpdateApp(ctx context.Context, appID string, c AppChange) (partner.App, error) {
	change := func(a partner.App) (partner.App, error) {
		if a.Status == partner.AppDeactivated {
			return partner.App{}, codes.AppDeactivated.New()
		}
		if err := s.CheckChange(a.Type, c); err != nil {
			return partner.App{}, err
		}
		set(&a.Name, c.Name)
		if c.RedirectURIs != nil {
			a.RedirectURIs = uri.Distinct(*c.RedirectURIs)
		}
		set(&a.Scopes, c.Scopes)
		set(&a.AppURL, c.AppURL)
		set(&a.PinnedVersion, c.PinnedVersion)
		set(&a.CustomBusinessID, c.CustomBusinessID)
		return a, nil
	}
	if c.CustomBusinessID != nil {
		return s.nameCustomBusiness(ctx, appID, change, c.By)
	}
	return s.cfg.Store.UpdateApp(ctx, appID, change)
}

// nameCustomBusiness makes a change that names a business for a custom connection.
func (s *Server) nameCustomBusiness(ctx context.Context, appID string, change func(partner.App) (partner.App, error), by audit.Entry) (partner.App, error) {
	now := s.cfg.Clock.Now()
	by.ID, by.AppID, by.Action, by.At = id.New(id.Audit, now), appID, audited.CustomConnectionEnded, now
	var before string
	named, err := s.cfg.Store.NameCustomBusiness(ctx, oauthstore.NameCustomBusiness{
		AppID: appID,
		Change: func(a partner.App) (partner.App, error) {
			before = a.CustomBusinessID
			return change(a)
		},
		End: oauthstore.EndInstallation{
			Now: now, RedactAt: now.Add(s.cfg.Lifetimes.RedactDelay),
			Record: func(i partner.Installation) []partner.Event {
				return core.InstallationEvent(events.AppUninstalled, i, now)
			},
			Audit: by,
		},
	})
	switch {
	case errors.Is(err, oauthstore.ErrConnectionExists):
		return partner.App{}, codes.ConnectionExists.New()
	case err == nil && named.Uninstalled:
		s.core.Tell(ctx, events.Notification{Kind: events.NotifyAppDisconnected, AppID: appID, BusinessID: before, UserID: by.UserID})
	}
	return named.App, err
}

func set[T any](member *T, value *T) {
	if value != nil {
		*member = *value
	}
}

// IssueRegistrationToken issues a token that lets its bearer register one app for the
// organization within Lifetimes.RegistrationToken, and returns it with its record. The token
// cannot be read again.
func (s *Server) IssueRegistrationToken(ctx context.Context, organizationID string) (string, oauthstore.RegistrationToken, error) {
	if organizationID == "" {
		return "", oauthstore.RegistrationToken{}, errors.New("issue registration token: no organization")
	}
	now := s.cfg.Clock.Now()
	token := secret.New(secret.RegistrationToken)
	record := oauthstore.RegistrationToken{
		ID: id.New(id.RegistrationToken, now), Digest: token.Digest(), OrganizationID: organizationID,
		CreatedAt: now, ExpiresAt: now.Add(s.cfg.Lifetimes.RegistrationToken),
	}
	if err := s.cfg.Store.CreateRegistrationToken(ctx, record); err != nil {
		return "", oauthstore.RegistrationToken{}, apierror.Failed("issue registration token", err)
	}
	return token.Reveal(), record, nil
}

// CompleteReview records that a review of the app has covered a profile; [partner.ErrNotFound].
func (s *Server) CompleteReview(ctx context.Context, appID string, covered partner.Profile) error {
	_, err := s.cfg.Store.UpdateApp(ctx, appID, func(a partner.App) (partner.App, error) {
		a.Reviewed, a.ReviewedAs = true, covered
		return a, nil
	})
	return err
}

// SetReviewed sets whether the app has completed review, which then covers the app as it is;
// [partner.ErrNotFound]. After a review is taken back, businesses still see the name that it covered.
func (s *Server) SetReviewed(ctx context.Context, appID string, reviewed bool) error { //nolint:revive // the value, not a switch
	_, err := s.cfg.Store.UpdateApp(ctx, appID, func(a partner.App) (partner.App, error) {
		if a.Reviewed = reviewed; reviewed {
			a.ReviewedAs = a.Profile()
		}
		return a, nil
	})
	return err
}

// HasKeys reports whether the app authenticates with private_key_jwt. It has no client
// secret then.
func HasKeys(a partner.App) bool { return clientmetadata.HasKeys(a) }
