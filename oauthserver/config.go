package oauthserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/ratelimit"
)

const (
	defaultMaxApps         = 100
	defaultMaxRedirectURIs = 100
)

// Config of a [Server]. Store, Host, Keyring, Pages and the two URLs are
// required; the zero value of everything else is its default.
type Config struct {
	Store   Store
	Host    Host
	Keyring *keyring.Keyring
	Pages   Pages // see oauthserver/pages

	// APIURL and AppURL are the public origins of the two hosts, such as
	// https://api.example.com. Nothing that a request says changes them.
	APIURL, AppURL string
	// Service names the service: in the realm of challenges and on pages. Empty
	// means "Service".
	Service string
	// Scopes that the server knows; the zero value means identity.DefaultScopes.
	Scopes identity.ScopeCatalog

	Limiter ratelimit.Limiter // nil: in memory
	Proxies ratelimit.Proxies // whose X-Forwarded-For is believed
	Clock   clock.Movable     // nil: the real time
	Logger  *slog.Logger      // nil: discards

	MeterProvider metric.MeterProvider // nil: no metrics

	// OmitDeprecatedMessage drops the message member of OAuth errors.
	OmitDeprecatedMessage bool
	// LoopbackPorts says for whom the port of a loopback redirect URI may differ.
	LoopbackPorts LoopbackPorts
	// RefreshRetry, when not zero, lets a client that lost the answer to a
	// refresh repeat it for so long; at most a minute. It gets the same tokens
	// again, never others.
	RefreshRetry time.Duration
	// ExchangeRefresh adds a refresh token to the answer of token exchange.
	ExchangeRefresh bool
	// SessionTokens verifies subject tokens of the host's own format; nil means
	// those that [Server.MintSessionToken] makes.
	SessionTokens SessionTokenVerifier
	// KeyRotation is how old the youngest signing key gets before [Server.Run] makes
	// another: an hour at least, 0 means 90 days, less than 0 never.
	KeyRotation time.Duration
	// Registration decides about registrations without a registration token;
	// nil refuses them.
	Registration RegistrationPolicy
	// MaxApps is how many apps an organization may have that are not deactivated; 0
	// means 100. It counts those of the console and those that registered with a
	// registration token of the organization or that Registration put into it.
	MaxApps int
	// MaxRedirectURIs is how many redirect URIs an app of the console may have, equal
	// ones counted once; 0 means 100.
	MaxRedirectURIs int
	// Unowned names the organization in whose sandboxes an unreviewed app
	// without an organization may be connected by this user; nil means none.
	Unowned func(ctx context.Context, app App, userID string) (organizationID string, err error)

	// Documents configures the fetching of client metadata documents.
	Documents DocumentConfig
}

// RegistrationPolicy decides to which organization an app belongs that registers
// without a registration token; "" for none, [ErrRegistrationRefused] to refuse.
type RegistrationPolicy func(r *http.Request) (organizationID string, err error)

// ErrRegistrationRefused is the answer of a [RegistrationPolicy] that says no.
var ErrRegistrationRefused = errors.New("registration refused")

// DocumentConfig is about client metadata documents.
type DocumentConfig struct {
	// MaxBytes is how long a document may be; 0 means 5 KiB.
	MaxBytes int64
	// AllowLoopback lets documents be fetched from this machine, over http too
	// and with any certificate. For development only.
	AllowLoopback bool
	// Dial opens the connections to the servers of documents, for networks that can be
	// left through an egress proxy only. It is called with network "tcp" and an
	// address as IP:port. Names are resolved on this machine, and addresses that are
	// not public are refused before Dial is called. The connection must lead to that
	// address, which only the proxy can ensure. TLS is spoken over it with the server.
	// Nil means direct connections, which are checked at the socket.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Server is the OAuth server. It is safe for concurrent use.
type Server struct {
	cfg       Config
	errors    apierror.Writer
	apiOrigin string
	appOrigin string
	keys      *signingKeys
	documents *documents
}

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
	case cfg.RefreshRetry < 0 || cfg.RefreshRetry > time.Minute:
		return nil, errors.New("oauthserver: Config.RefreshRetry is not between 0 and a minute")
	case cfg.MaxApps < 0 || cfg.MaxRedirectURIs < 0:
		return nil, errors.New("oauthserver: Config.MaxApps or Config.MaxRedirectURIs is negative")
	case cfg.KeyRotation > 0 && cfg.KeyRotation < keyLeadTime:
		return nil, errors.New("oauthserver: Config.KeyRotation is less than an hour: keys would wait in line to sign")
	}
	apiOrigin, err := checkOrigin("APIURL", cfg.APIURL)
	if err != nil {
		return nil, err
	}
	appOrigin, err := checkOrigin("AppURL", cfg.AppURL)
	if err != nil {
		return nil, err
	}
	if cfg.Service == "" {
		cfg.Service = "Service"
	}
	if len(cfg.Scopes.All()) == 0 {
		cfg.Scopes = identity.DefaultScopes()
	}
	if cfg.Limiter == nil {
		if cfg.Limiter, err = ratelimit.NewMemory(ratelimit.MemoryConfig{}); err != nil {
			return nil, err
		}
	}
	if cfg.Limiter, err = countRefusals(cfg.Limiter, cfg.MeterProvider); err != nil {
		return nil, fmt.Errorf("oauthserver: %w", err)
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.MaxApps, cfg.MaxRedirectURIs = cmp.Or(cfg.MaxApps, defaultMaxApps), cmp.Or(cfg.MaxRedirectURIs, defaultMaxRedirectURIs)
	cfg.KeyRotation = cmp.Or(cfg.KeyRotation, defaultKeyRotation)
	keys := &signingKeys{store: cfg.Store, ring: cfg.Keyring}
	if cfg.SessionTokens == nil {
		cfg.SessionTokens = sessionTokens{keys: keys, issuer: apiOrigin}
	}
	documents, err := newDocuments(cfg)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, apiOrigin: apiOrigin, appOrigin: appOrigin, keys: keys, documents: documents, errors: apierror.Writer{
		Logger: cfg.Logger, Service: cfg.Service, OmitDeprecatedMessage: cfg.OmitDeprecatedMessage,
	}}
	return s, nil
}

// checkOrigin wants scheme and host and nothing else: every URL that the server
// publishes is built on it.
func checkOrigin(field, raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || !isPort(u.Port()) || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("oauthserver: Config.%s %q is not an origin like https://api.example.com", field, raw)
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) {
		return "", fmt.Errorf("oauthserver: Config.%s %q must be https, or http on loopback", field, raw)
	}
	return originOf(u), nil
}

// Scopes are all that the server knows.
func (s *Server) Scopes() identity.ScopeCatalog { return s.cfg.Scopes }
