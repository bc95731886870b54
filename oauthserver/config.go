package oauthserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver/internal/consent"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
	"github.com/partnerkit/partnerkit/oauthserver/internal/endpoint"
	"github.com/partnerkit/partnerkit/oauthserver/internal/sessiontoken"
	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/theme"
)

const (
	defaultMaxApps         = 100
	defaultMaxRedirectURIs = 100
)

// Config of a [Server]. Store, Host, Keyring, Pages and the two URLs are
// required; the zero value of everything else is its default.
type Config struct {
	Store   oauthstore.Store
	Host    Host
	Keyring *keyring.Keyring
	Pages   pages.Pages // pages.New has the default ones

	// APIURL and AppURL are the public origins of the two hosts, such as
	// https://api.example.com. They must differ. Nothing that a request says changes them.
	APIURL, AppURL string
	// Service names the service: in the realm of challenges and on pages. Empty
	// means "Service".
	Service string
	// Scopes that the server knows; the zero value means identity.DefaultScopes.
	Scopes identity.ScopeCatalog
	// Resources are the parts of the API host that have metadata of their own, beside that
	// of the API host as a whole.
	Resources []Resource

	// Theme is the brand on the pages; the zero value is the default look.
	Theme theme.Theme
	// ThemeFor returns the theme of a request, for hosts with several brands; nil means
	// Theme. The request's context carries the session of the person who is signed in
	// (identity.SessionFrom). See theme.NewSource for what happens when it fails.
	ThemeFor func(r *http.Request) theme.Theme
	// Languages of the pages; the zero value means English alone.
	Languages locale.Languages

	Limiter ratelimit.Limiter // nil: in memory
	Limits  ratelimit.Limits  // zero fields: their defaults
	// Lifetimes of codes and tokens; zero fields: their defaults.
	Lifetimes Lifetimes
	// AuditRetention is how long entries of the audit log are kept; 0 means
	// audit.Retention.
	AuditRetention time.Duration
	Proxies        ratelimit.Proxies // whose X-Forwarded-For is believed
	Clock          clock.Clock       // nil: the real time
	Logger         *slog.Logger      // nil: discards

	MeterProvider metric.MeterProvider // nil: no metrics
	// Notifications receives notifications for the host's staff; nil means none are sent.
	Notifications *events.Notifications
	// SecretUsed is called when a client authenticated with a secret, with the
	// [partner.ClientSecret.UseID] of that secret. It must not block. Nil means that the last use of
	// secrets is not kept.
	SecretUsed func(useID string, at time.Time)

	// CallPermissions returns the names of the permissions that calls of a custom connection
	// can need with these scopes, and that the user has in the business: what the connection
	// may do if the user approves it. An error is an internal error. Nil means none. Platform
	// asks its Permissions about its Routes.
	CallPermissions func(ctx context.Context, businessID, userID string, scopes identity.Scopes) ([]string, error)
	// LentPermissions returns the names of the permissions that calls with these scopes can
	// need, and that the user has in the business, for the page on which a person takes a
	// connection over. An error is an internal error. Nil means none. Platform asks its
	// Permissions about its Routes.
	LentPermissions func(ctx context.Context, businessID, userID string, scopes identity.Scopes) ([]string, error)

	// ErrorShape replaces the standard shape of errors, which metadata endpoints and
	// unknown paths use; nil: apierror.StandardShape. OAuth endpoints keep the OAuth shape.
	ErrorShape apierror.ShapeFunc
	// Dial opens the connections to the servers of client metadata documents, for networks
	// that can be left through an egress proxy only. It is called with network "tcp" and an
	// address as IP:port. Names are resolved on this machine, and addresses that are not
	// public are refused before Dial is called. The connection must lead to that address,
	// which only the proxy can ensure. TLS is spoken over it with the server. Nil means
	// direct connections, which are checked at the socket.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	Options
}

// Options are the settings that only the OAuth server has. The zero value of each is its
// default.
type Options struct {
	// Listings has the icon, publisher and links of apps; nil: pages show none.
	Listings Listings
	// ConnectedApps is about the page of connected apps.
	ConnectedApps ConnectedAppsConfig
	// BusinessPath is the host's page on which a person chooses the business to sign into:
	// a path on the app host. The device pages link to it with the query parameter return_to,
	// a path with a query on the app host to which the page leads after the choice: a device
	// is connected to the business that the person is signed in to, and the person may not be
	// allowed to connect apps there. The page of connected apps links to it too, and sends
	// people there who have chosen no business. Empty: the pages have no such link.
	BusinessPath string

	// OmitDeprecatedMessage drops the message member of OAuth errors.
	OmitDeprecatedMessage bool
	// LoopbackPorts selects the apps for which the port of a loopback redirect URI may differ.
	LoopbackPorts LoopbackPorts
	// IssuerParameter adds iss to authorization responses, denials included, so that a client
	// of several servers can tell which server responded (RFC 9207).
	IssuerParameter bool
	// HideInternalScopes removes the scopes that apps cannot request from the server
	// metadata. Some clients request every scope that they find there, and are rejected.
	HideInternalScopes bool
	// RegisteredScopesAsDefault lets an app that registers itself request every scope that
	// apps may request. The scopes of its registration are what it gets when it names none.
	// Some clients register with the scope of the first challenge and ask for more later.
	// It applies to registrations from then on.
	RegisteredScopesAsDefault bool
	// OptionalScope lets an authorization request leave out scope, or have an empty one. It is
	// then a request for the scopes that the app registered, as it always is at the device
	// endpoint. Without the option it is an error.
	OptionalScope bool
	// PrivateKeyJWT lets clients authenticate with a JWT that they sign with a key of their
	// own (RFC 7523), instead of a secret: apps whose registration or metadata document has
	// the method private_key_jwt. They are CONFIDENTIAL. When it is turned on, a document
	// that was stored before counts from its next fetch, at most a day later.
	PrivateKeyJWT bool
	// PrivateUseSchemes are schemes of redirect URIs, such as "cursor", that PUBLIC clients
	// may have in a registration or a client metadata document (RFC 8252 section 7.1). Any
	// program can claim such a scheme, so PKCE alone protects the code. Schemes that belong
	// to browsers or to no program, such as "javascript" and "http", are refused.
	PrivateUseSchemes []string
	// ForeignRefreshTokens is asked about refresh tokens that do not have our form, after the client has
	// authenticated; nil: there are none. False means that the token is not known. See
	// [ForeignGrant].
	ForeignRefreshTokens func(ctx context.Context, t ForeignToken) (ForeignGrant, bool, error)
	// RefreshRetry is how long a client that lost the response to a refresh may repeat it, with
	// the same scope parameter and while the new refresh token is unused. The client receives
	// the same tokens again. It is at most 24 hours, and at most one minute for PUBLIC clients,
	// whatever is set: for that long, a thief can exchange a used refresh token for tokens
	// without being noticed. Zero disables it.
	RefreshRetry time.Duration
	// CustomConnections lets the organization of a CONFIDENTIAL app name one business, whose
	// people can then approve a custom connection at /connections/new?client_id=…, without a
	// review of the app. With the grant type client_credentials the app gets installation tokens
	// for it, which act for the installation and not for a person. Only routes that say so take
	// them: guard.Route.Installations. When the option is turned off again, these tokens are
	// rejected.
	CustomConnections bool
	// OrganizationName returns the name of the organization that made an app. The page of custom
	// connections shows it. Nil means that the page shows the id.
	OrganizationName func(ctx context.Context, organizationID string) (string, error)
	// ExchangeRefresh adds a refresh token to the response of token exchange.
	ExchangeRefresh bool
	// SessionTokens verifies subject tokens of the host's own format; nil means the tokens of
	// [Server.IssueSessionToken]. An error that wraps [ErrInternal] is an internal error; any
	// other error means that the token is not valid.
	SessionTokens func(ctx context.Context, app partner.App, token string, now time.Time) (SessionToken, error)
	// KeyRotation is the age of the newest signing key at which [Server.Run] creates
	// another: at least an hour; 0 means 90 days; a negative value disables rotation.
	KeyRotation time.Duration
	// Registration decides to which organization an app belongs that registers without a
	// registration token; "" for none, [ErrRegistrationRefused] to refuse. Nil refuses all.
	Registration func(r *http.Request) (organizationID string, err error)
	// MaxApps is how many apps an organization may have that are not deactivated; 0
	// means 100. It counts those of the console and those that registered with a
	// registration token of the organization or that Registration put into it.
	MaxApps int
	// MaxConnections is the number of businesses to which an app may be connected at the same
	// time; 0 means any number. An approval for a further business is refused. Businesses that are
	// connected may approve again, and sandboxes of the app's own organization do not count.
	MaxConnections int
	// MaxConnectionsFor returns the MaxConnections of one app, such as that of a plan which
	// the partner pays for; it replaces MaxConnections. Zero means any number. Connections
	// that an app has beyond the number stay. An error, or a number below zero, is an
	// internal error: the request can then be decided again. Nil means MaxConnections.
	MaxConnectionsFor func(ctx context.Context, app partner.App) (int, error)
	// MaxRedirectURIs is how many redirect URIs an app of the console may have, equal
	// ones counted once; 0 means 100.
	MaxRedirectURIs int
	// Unowned names the organization in whose sandboxes an unreviewed app
	// without an organization may be connected by this user; nil means none.
	Unowned func(ctx context.Context, app partner.App, userID string) (organizationID string, err error)
	// IsDeveloper reports whether a user belongs to the organization of an app. Pages show
	// these people which parts of a request no review covers yet. Nil means that of Platform's
	// console; without a console nobody belongs to any.
	IsDeveloper func(ctx context.Context, organizationID, userID string) (bool, error)

	// Documents is about client metadata documents.
	Documents DocumentConfig
}

// ErrRegistrationRefused is the error of [Options].Registration that rejects a registration.
var ErrRegistrationRefused = core.ErrRegistrationRefused

// DocumentConfig is about client metadata documents.
type DocumentConfig struct {
	// MaxBytes is how long a document may be; 0 means 5 KiB.
	MaxBytes int64
	// AllowLoopback lets documents be fetched from this machine, over http too
	// and with any certificate. For development only.
	AllowLoopback bool
	// Policy decides how far each document is trusted; nil: none is reviewed. See
	// [TrustDocuments] for a policy by host or URL.
	Policy DocumentPolicy
	// Pinned are documents that are used as they are here and never fetched, by their URL,
	// for servers that do not let other servers fetch a document. They count as reviewed
	// unless Policy refuses them.
	Pinned map[string][]byte
}

// Server is the OAuth server. It is safe for concurrent use.
type Server struct {
	cfg       Config
	core      *core.Core
	endpoints *endpoint.Server
	pages     *consent.Server
}

// maxRefreshRetry is the longest RefreshRetry. For PUBLIC clients it is a minute, whatever is set.
const maxRefreshRetry = 24 * time.Hour

// New checks the configuration and returns a server. It starts nothing:
// [Server.Run] does the work that no request causes.
func New(cfg Config) (*Server, error) {
	switch {
	case cfg.Store == nil:
		return nil, errors.New("oauthserver: Config.Store is nil")
	case cfg.Host == nil:
		return nil, errors.New("oauthserver: Config.Host is nil")
	case cfg.Keyring == nil:
		return nil, errors.New("oauthserver: Config.Keyring is nil")
	case cfg.Pages == nil:
		return nil, errors.New("oauthserver: Config.Pages is nil; pages.New has the default ones")
	case cfg.RefreshRetry < 0 || cfg.RefreshRetry > maxRefreshRetry:
		return nil, errors.New("oauthserver: Config.RefreshRetry is not between 0 and 24 hours")
	case !cfg.LoopbackPorts.isKnown():
		return nil, fmt.Errorf("oauthserver: Config.LoopbackPorts is %q, which is not a known value", cfg.LoopbackPorts)
	case cfg.MaxApps < 0 || cfg.MaxRedirectURIs < 0:
		return nil, errors.New("oauthserver: Config.MaxApps or Config.MaxRedirectURIs is negative")
	case cfg.MaxConnections < 0:
		return nil, errors.New("oauthserver: Config.MaxConnections is negative")
	case cfg.MaxConnections > 0 && cfg.MaxConnectionsFor != nil:
		return nil, errors.New("oauthserver: Config.MaxConnections and Config.MaxConnectionsFor are both set; the function alone decides")
	case cfg.KeyRotation > 0 && cfg.KeyRotation < minKeyRotation:
		return nil, errors.New("oauthserver: Config.KeyRotation is less than an hour: each key must sign before its successor does")
	}
	apiOrigin, err := uri.ParseOrigin(cfg.APIURL)
	if err != nil {
		return nil, fmt.Errorf("oauthserver: Config.APIURL %q %w", cfg.APIURL, err)
	}
	appOrigin, err := uri.ParseOrigin(cfg.AppURL)
	if err != nil {
		return nil, fmt.Errorf("oauthserver: Config.AppURL %q %w", cfg.AppURL, err)
	}
	if apiOrigin == appOrigin {
		return nil, fmt.Errorf("oauthserver: Config.APIURL and Config.AppURL are both %s: a browser must tell the two hosts apart, "+
			"since pages of any origin may call the API host (CORS) and the pages of the app host have a strict Content-Security-Policy and cookies of their own; "+
			"give the API a name of its own, such as https://api.example.com", apiOrigin)
	}
	if cfg.Service == "" {
		cfg.Service = "Service"
	}
	if len(cfg.Scopes.All()) == 0 {
		cfg.Scopes = identity.DefaultScopes()
	}
	if err := checkResources(cfg.Resources, cfg.Scopes); err != nil {
		return nil, fmt.Errorf("oauthserver: Config.Resources: %w", err)
	}
	if cfg.Limiter == nil {
		if cfg.Limiter, err = ratelimit.NewMemory(ratelimit.MemoryConfig{}); err != nil {
			return nil, err
		}
	}
	if cfg.Limiter, err = core.CountRefusals(cfg.Limiter, cfg.MeterProvider); err != nil {
		return nil, fmt.Errorf("oauthserver: %w", err)
	}
	if err := cfg.Limits.Validate(); err != nil {
		return nil, fmt.Errorf("oauthserver: Config.%w", err)
	}
	cfg.Limits = cfg.Limits.WithDefaults()
	if err := cfg.Lifetimes.Validate(); err != nil {
		return nil, fmt.Errorf("oauthserver: Config.%w", err)
	}
	cfg.Lifetimes = cfg.Lifetimes.WithDefaults()
	if cfg.AuditRetention < 0 {
		return nil, errors.New("oauthserver: Config.AuditRetention is negative")
	}
	cfg.AuditRetention = cmp.Or(cfg.AuditRetention, audit.Retention)
	cfg.Clock = clock.From(cfg.Clock)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.MaxApps, cfg.MaxRedirectURIs = cmp.Or(cfg.MaxApps, defaultMaxApps), cmp.Or(cfg.MaxRedirectURIs, defaultMaxRedirectURIs)
	cfg.KeyRotation = cmp.Or(cfg.KeyRotation, defaultKeyRotation)
	for _, scheme := range cfg.PrivateUseSchemes {
		if problem := uri.SchemeProblem(scheme); problem != "" {
			return nil, fmt.Errorf("oauthserver: Config.PrivateUseSchemes: %q %s", scheme, problem)
		}
	}
	keys := &sessiontoken.Keys{Store: keyStore{cfg.Store}, Keyring: cfg.Keyring, Issuer: apiOrigin, Lifetime: cfg.Lifetimes.SessionToken}
	if cfg.SessionTokens == nil {
		cfg.SessionTokens = verifyIssued(keys)
	}
	documents, err := newDocuments(cfg)
	if err != nil {
		return nil, fmt.Errorf("oauthserver: Config.Documents.%w", err)
	}
	c := &core.Core{
		Config: cfg.core(), APIOrigin: apiOrigin, AppOrigin: appOrigin, Keys: keys, Documents: documents,
		Errors: apierror.Writer{Logger: cfg.Logger, Service: cfg.Service, OmitDeprecatedMessage: cfg.OmitDeprecatedMessage, Shape: cfg.ErrorShape},
	}
	pages, err := consent.New(c)
	if err != nil {
		return nil, fmt.Errorf("oauthserver: Config: %w", err)
	}
	return &Server{cfg: cfg, core: c, endpoints: endpoint.New(c), pages: pages}, nil
}

// newDocuments returns what finds the apps of client metadata documents.
func newDocuments(cfg Config) (*document.Directory, error) {
	if cfg.Documents.MaxBytes < 0 {
		return nil, errors.New("MaxBytes is negative")
	}
	documents := document.DirectoryConfig{
		Config: document.Config{
			Limiter: cfg.Limiter, Rules: document.Rules{Scopes: cfg.Scopes, PrivateUseSchemes: cfg.PrivateUseSchemes, PrivateKeyJWT: cfg.PrivateKeyJWT},
			MaxBytes: cfg.Documents.MaxBytes, AllowLoopback: cfg.Documents.AllowLoopback, Dial: cfg.Dial,
		},
		Store: cfg.Store, Logger: cfg.Logger, Pinned: cfg.Documents.Pinned,
	}
	if policy := cfg.Documents.Policy; policy != nil {
		documents.Policy = func(ctx context.Context, url string) (document.Trust, error) {
			trust, err := policy(ctx, url)
			return document.Trust{Review: document.Review(trust.Review), OrganizationID: trust.OrganizationID}, err
		}
	}
	return document.NewDirectory(documents)
}

// core returns the settings that requests need, in the words of the packages below.
func (cfg *Config) core() core.Config {
	c := core.Config{
		Store: cfg.Store, Host: host{cfg.Host}, Keyring: cfg.Keyring, Pages: cfg.Pages,
		Service: cfg.Service, Scopes: cfg.Scopes, Theme: cfg.Theme, ThemeFor: cfg.ThemeFor, Languages: cfg.Languages,
		Limiter: cfg.Limiter, Limits: cfg.Limits, Lifetimes: core.Lifetimes(cfg.Lifetimes), Proxies: cfg.Proxies,
		Clock: cfg.Clock, Logger: cfg.Logger, Notifications: cfg.Notifications,
		SecretUsed: cfg.SecretUsed, CallPermissions: cfg.CallPermissions, LentPermissions: cfg.LentPermissions,
		Registration: cfg.Registration, OrganizationName: cfg.OrganizationName, MaxConnectionsFor: cfg.MaxConnectionsFor,
		Unowned: cfg.Unowned, IsDeveloper: cfg.IsDeveloper,
		Listings: cfg.Listings, ConnectedApps: core.ConnectedApps(cfg.ConnectedApps), BusinessPath: cfg.BusinessPath,
		AnyLoopbackPort: cfg.LoopbackPorts.allow,
		IssuerParameter: cfg.IssuerParameter, HideInternalScopes: cfg.HideInternalScopes, RegisteredScopesAsDefault: cfg.RegisteredScopesAsDefault,
		OptionalScope: cfg.OptionalScope, PrivateKeyJWT: cfg.PrivateKeyJWT, PrivateUseSchemes: cfg.PrivateUseSchemes, RefreshRetry: cfg.RefreshRetry,
		CustomConnections: cfg.CustomConnections, ExchangeRefresh: cfg.ExchangeRefresh, MaxApps: cfg.MaxApps, MaxConnections: cfg.MaxConnections,
		VerifySessionToken: func(ctx context.Context, app partner.App, token string, now time.Time) (sessiontoken.Token, error) {
			verified, err := cfg.SessionTokens(ctx, app, token, now)
			return sessiontoken.Token(verified), err
		},
	}
	for _, resource := range cfg.Resources {
		c.Resources = append(c.Resources, core.Resource(resource))
	}
	if cfg.ForeignRefreshTokens != nil {
		c.ForeignRefreshTokens = func(ctx context.Context, clientID, token string) (core.ForeignGrant, bool, error) {
			grant, ok, err := cfg.ForeignRefreshTokens(ctx, ForeignToken{ClientID: clientID, Token: token})
			return core.ForeignGrant(grant), ok, err
		}
	}
	return c
}

// Origins returns the origins of the two hosts, spelled as browsers do: in lower case, without a
// default port.
func (s *Server) Origins() (api, app string) { return s.core.APIOrigin, s.core.AppOrigin }

// Scopes returns the catalog of all scopes of the server.
func (s *Server) Scopes() identity.ScopeCatalog { return s.cfg.Scopes }
