package oauthserver

import (
	"context"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/internal/consent"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
)

// APIHandler serves the API host: the OAuth endpoints and the documents by which clients
// find them. Mount it on "/oauth/" and "/.well-known/". For any other path the response is a
// 404 in the standard shape.
func (s *Server) APIHandler() http.Handler { return s.endpoints.Handler() }

// APIPatterns returns the methods and paths that [Server.APIHandler] serves, sorted.
func (s *Server) APIPatterns() []string { return s.endpoints.Patterns() }

// AppHandler serves the pages of the app host: /oauth/authorize, where a person
// connects an app, /device, where they do so for a device, and /settings/apps, where
// they disconnect apps. Every response is a page with a strict content policy, or a
// redirect.
func (s *Server) AppHandler() http.Handler { return s.pages.Handler() }

// AppPatterns returns the methods and paths that [Server.AppHandler] serves, sorted.
func (s *Server) AppPatterns() []string { return s.pages.Patterns() }

// ConnectedAppsConfig configures the page /settings/apps on the app host, where the members
// of a business see its connected apps. Members who may connect apps can also disconnect
// them, and take over the connections of people who have left the business.
type ConnectedAppsConfig struct {
	// Omit leaves the page to the host.
	Omit bool
	// OpenPath returns the path of the host's page that shows an app, such as one that
	// embeds the App URL; nil or empty: there is none.
	OpenPath func(app partner.App) string
	// LastUses returns when the installations were last used; those that never were are
	// missing. Nil: the page shows no such times.
	LastUses func(ctx context.Context, installationIDs ...string) (map[string]time.Time, error)
	// PersonName returns the name of a user, so that the page says who connected an app; empty
	// if it is not known. It is asked about members of the business only. Nil: the page does not
	// say it.
	PersonName func(ctx context.Context, userID string) (string, error)
}

// Listings has what the marketplace says about apps.
type Listings interface {
	// AppListing returns what the live listing of an app says; the zero value when
	// there is none.
	AppListing(ctx context.Context, appID string) (pages.AppListing, error)
}

// ShownIn returns an app as people in a business see it: in a sandbox of its own organization
// as it is, and elsewhere with the name and App URL that were reviewed. Of the business, ID and
// SandboxOf count.
func ShownIn(a partner.App, b Business) partner.App { return consent.ShownIn(a, core.Business(b)) }

// ConnectionPage returns the URL of the page on which the business that an app names approves a
// custom connection.
func (s *Server) ConnectionPage(app partner.App) string { return s.pages.ConnectionPage(app) }

// SandboxToken is an access token for the first calls of an app.
type SandboxToken struct {
	AccessToken string
	Business    Business
	Scopes      identity.Scopes
	ExpiresAt   time.Time
}

// SandboxBusinesses lists the sandbox businesses of the app's organization to which a user may
// connect apps now, in the order of the host.
func (s *Server) SandboxBusinesses(ctx context.Context, app partner.App, userID string) ([]Business, error) {
	found, err := s.pages.SandboxBusinesses(ctx, app, userID)
	businesses := make([]Business, len(found))
	for i, one := range found {
		businesses[i] = Business(one)
	}
	return businesses, err
}

// SandboxToken connects an app to a sandbox business of its organization with all scopes of the
// app, as if the user had allowed that on the consent page, and returns an access token. Its
// error is one of apierror if the user may not connect the app there now. Who may act for the
// app is for the caller to decide.
func (s *Server) SandboxToken(ctx context.Context, app partner.App, session identity.Session, businessID string) (SandboxToken, error) {
	t, err := s.pages.SandboxToken(ctx, app, session, businessID)
	return SandboxToken{AccessToken: t.AccessToken, Business: Business(t.Business), Scopes: t.Scopes, ExpiresAt: t.ExpiresAt}, err
}

// TakeOver moves the consents that people who have left a business gave an app there to another
// person: their consents end, and the tokens issued for them work again, with unchanged scopes
// and with the permissions of this person. It adds an entry to the audit log and calls the
// Notifier. It is for hosts; people do the same on the page of connected apps.
//
// The error has the status 403 if the person is not a member of the business who may connect
// the app there, and 409 CONFLICT if none of those who connected it have left, or if
// the app is PUBLIC: only the person who left has its tokens, so it is connected again instead.
// [partner.ErrNotFound] means that the app is not installed there.
func (s *Server) TakeOver(ctx context.Context, appID, businessID, userID string) error {
	return s.pages.TakeOver(ctx, appID, businessID, userID)
}
