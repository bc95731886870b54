// Package core is what the endpoints, the pages and the host's own calls share: the settings of
// the server, after they were checked and their defaults were filled in, and the operations that
// more than one of them needs.
//
//	oauthserver ──► endpoint, consent ──► core ──► document, oauthstore
//
// Package oauthserver declares the types that a host sees and turns them into a [Config]. The
// packages below it cannot import it, so [Config] names the few that they need once more.
package core

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
	"github.com/partnerkit/partnerkit/oauthserver/internal/sessiontoken"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/theme"
)

// Core is what the parts of the server share. It is safe for concurrent use.
type Core struct {
	Config
	Errors    apierror.Writer
	APIOrigin string
	AppOrigin string
	Keys      *sessiontoken.Keys
	Documents *document.Directory
}

// Config has the settings of oauthserver.Config, whose comments explain them. No default is
// left to fill in.
type Config struct {
	Store   oauthstore.Store
	Host    Host
	Keyring *keyring.Keyring
	Pages   pages.Pages

	Service   string
	Scopes    identity.ScopeCatalog
	Resources []Resource
	Theme     theme.Theme
	ThemeFor  func(r *http.Request) theme.Theme
	Languages locale.Languages

	Limiter       ratelimit.Limiter
	Limits        ratelimit.Limits
	Lifetimes     Lifetimes
	Proxies       ratelimit.Proxies
	Clock         clock.Clock
	Logger        *slog.Logger
	Notifications *events.Notifications

	SecretUsed           func(useID string, at time.Time)
	CallPermissions      func(ctx context.Context, businessID, userID string, scopes identity.Scopes) ([]string, error)
	LentPermissions      func(ctx context.Context, businessID, userID string, scopes identity.Scopes) ([]string, error)
	Registration         func(r *http.Request) (organizationID string, err error)
	ForeignRefreshTokens func(ctx context.Context, clientID, token string) (ForeignGrant, bool, error)
	// VerifySessionToken verifies subject tokens of token exchange.
	VerifySessionToken func(ctx context.Context, app partner.App, token string, now time.Time) (sessiontoken.Token, error)
	OrganizationName   func(ctx context.Context, organizationID string) (string, error)
	MaxConnectionsFor  func(ctx context.Context, app partner.App) (int, error)
	Unowned            func(ctx context.Context, app partner.App, userID string) (organizationID string, err error)
	IsDeveloper        func(ctx context.Context, organizationID, userID string) (bool, error)

	Listings      Listings
	ConnectedApps ConnectedApps
	BusinessPath  string

	// AnyLoopbackPort reports whether the port of a loopback redirect URI of the app may differ.
	AnyLoopbackPort           func(app partner.App) bool
	IssuerParameter           bool
	HideInternalScopes        bool
	RegisteredScopesAsDefault bool
	OptionalScope             bool
	PrivateKeyJWT             bool
	PrivateUseSchemes         []string
	RefreshRetry              time.Duration
	CustomConnections         bool
	ExchangeRefresh           bool
	MaxApps                   int
	MaxConnections            int
}

// Host is the part of oauthserver.Host that requests need.
type Host interface {
	Session(r *http.Request) (identity.Session, bool, error)
	SignIn(w http.ResponseWriter, r *http.Request, returnTo string)
	Businesses(ctx context.Context, userID string) ([]Business, error)
	IsMember(ctx context.Context, businessID, userID string) (bool, error)
}

// Business is a business that a user is a member of.
type Business struct {
	ID         string
	Name       string
	SandboxOf  string
	MayConnect bool
}

// Listings has what the marketplace says about apps.
type Listings interface {
	AppListing(ctx context.Context, appID string) (pages.AppListing, error)
}

// ConnectedApps configures the page of connected apps.
type ConnectedApps struct {
	Omit       bool
	OpenPath   func(app partner.App) string
	LastUses   func(ctx context.Context, installationIDs ...string) (map[string]time.Time, error)
	PersonName func(ctx context.Context, userID string) (string, error)
}

// Lifetimes are the lifetimes of tokens, codes and requests.
type Lifetimes struct {
	Request           time.Duration
	Code              time.Duration
	AccessToken       time.Duration
	RefreshToken      time.Duration
	DeviceCode        time.Duration
	DeviceInterval    time.Duration
	SessionToken      time.Duration
	RegistrationToken time.Duration
	RedactDelay       time.Duration
}

// Resource is a part of the API host with metadata of its own.
type Resource struct {
	Path   string
	Name   string
	Scopes []string
}

// ForeignGrant is what a refresh token of another server stands for.
type ForeignGrant struct {
	BusinessID string
	UserID     string
	Scopes     identity.Scopes
	ExpiresAt  time.Time
}

// ErrRegistrationRefused is the error of a Registration that rejects one.
var ErrRegistrationRefused = errors.New("registration refused")

// Paths that more than one part of the server names.
const (
	AuthorizePath        = "/oauth/authorize"
	DevicePath           = "/device"
	ResourceMetadataPath = "/.well-known/oauth-protected-resource"
)

// DeniedUser is the text for a user who may not use an app now. Whether the user is suspended,
// restricted or has left is not told.
const DeniedUser = "the person who connected this app may not use it now"

// Tell queues a notification of now.
func (c *Core) Tell(ctx context.Context, n events.Notification) {
	n.At = c.Clock.Now()
	c.Notifications.Tell(ctx, n)
}
