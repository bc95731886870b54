package partnerkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/webhooks"
)

// Store is all that the features keep. storage/sqlite and storage/postgres open
// one that satisfies it.
type Store interface {
	oauthserver.Store
	guard.KeyStore
	analytics.Store
	events.Store
	webhooks.Store
	appdata.Store
	console.Store
}

// Config of a [Platform]. Store, Host, Keyring, Pages and the two URLs are
// required; the zero value of everything else is its default.
type Config struct {
	Store   Store
	Host    oauthserver.Host
	Keyring *keyring.Keyring
	Pages   oauthserver.Pages // see oauthserver/pages

	// APIURL and AppURL are the public origins of the two hosts, such as
	// https://api.example.com. Nothing that a request says changes them.
	APIURL, AppURL string
	// Service names the service in challenges and on pages; empty means
	// "Service".
	Service string
	// Scopes that the service knows; the zero value means
	// identity.DefaultScopes.
	Scopes identity.ScopeCatalog

	// Routes are what apps may call on the API host, each with what they need
	// for it. Whatever is not among them stays shut to them.
	Routes []guard.Route
	// Events are what apps get to know of; the zero value means
	// events.DefaultCatalog. The Events API is served when Scopes has
	// [EventsScope].
	Events events.Catalog
	// Records says which records there are, for app data; nil: apps cannot attach
	// any.
	Records appdata.Records
	// Developers says who makes apps; nil: there is no console. Its JSON is served
	// below /developer on the API host, its pages below /developer on the app host.
	Developers console.Host
	// MaxFunctions is how many functions an app may have in the console; 0 means 20.
	// OAuth.MaxApps, OAuth.MaxRedirectURIs and Webhooks.MaxWebhooks are the other bounds
	// of what developers may have.
	MaxFunctions int
	// FunctionChecker checks the sources of functions; nil: a function is any text that
	// is not blank, in any language. console/jscheck checks JavaScript.
	FunctionChecker console.FunctionChecker
	// ConsolePages holds what only the console's pages have a choice about: the
	// header, and moving the clock in development. The rest is taken from here.
	ConsolePages pages.Config
	// Permissions is the second gate of routes that declare one; nil: none may.
	Permissions guard.Permissions
	// Versions of the API; zero: it has none.
	Versions guard.Versions

	// APIRoutes and AppRoutes are the host's own on each of the two hosts: they
	// get what no feature takes, on the API host from people with a session
	// alone. Nil means that there are none. What anybody may reach on the API
	// host, such as a health check, stands in front of [Platform.API].
	APIRoutes, AppRoutes http.Handler

	Limiter ratelimit.Limiter // nil: in memory
	Proxies ratelimit.Proxies // whose X-Forwarded-For is believed
	Clock   clock.Movable     // nil: the real time
	Logger  *slog.Logger      // nil: discards

	// Dial opens the connections of webhooks and client metadata documents, for networks
	// that can be left through an egress proxy only; see webhooks.Config.Dial for what is
	// checked before it is called. Nil means direct connections. Webhooks.Dial and
	// OAuth.Documents.Dial come first where they are set.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	MeterProvider  metric.MeterProvider // nil: no metrics
	TracerProvider trace.TracerProvider // nil: no spans

	// OAuth holds what only the OAuth server has a choice about. The fields
	// that stand above as well are taken from there.
	OAuth oauthserver.Config
	// Webhooks holds what only the webhooks have a choice about, likewise.
	Webhooks webhooks.Config
}

// EventsScope is what apps need to read the events of a business.
const EventsScope = "events:read"

// Platform is the features, put together. It is safe for concurrent use.
type Platform struct {
	cfg    Config
	errors apierror.Writer
	oauth  *oauthserver.Server
	keys   *guard.Idempotency
	calls  *analytics.Counter
	events *events.Log
	hooks  *webhooks.Service
	data   *appdata.Service // nil without Config.Records
	desk   *console.Console // nil without Config.Developers
	office *pages.Pages     // the console's; nil likewise
	guard  *guard.Surface
	api    http.Handler
	app    http.Handler
}

// New puts the features together and starts nothing: [Platform.Run] does the
// work that no request causes. The errors say which field is wrong.
func New(_ context.Context, cfg Config) (*Platform, error) {
	if cfg.Store == nil {
		return nil, errors.New("partnerkit: Config.Store is nil; storage/sqlite and storage/postgres open one")
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Platform{cfg: cfg, errors: apierror.Writer{Logger: cfg.Logger, Service: cfg.Service}}
	for _, build := range []func() error{p.newOAuth, p.newEvents, p.newAppData, p.newSurface, p.newConsole} {
		if err := build(); err != nil {
			return nil, fmt.Errorf("partnerkit: %w", err)
		}
	}
	p.api = p.newAPI()
	p.app = p.newApp()
	return p, nil
}

func (c Config) withDefaults() (Config, error) {
	if c.Service == "" {
		c.Service = "Service"
	}
	if len(c.Scopes.All()) == 0 {
		c.Scopes = identity.DefaultScopes()
	}
	if c.Clock == nil {
		c.Clock = clock.System{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Limiter == nil {
		// One for all features: they share the memory that it may take.
		memory, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
		if err != nil {
			return c, fmt.Errorf("partnerkit: %w", err)
		}
		c.Limiter = memory
	}
	return c, nil
}

// API serves the API host.
func (p *Platform) API() http.Handler { return p.api }

// App serves the app host, where people are.
func (p *Platform) App() http.Handler { return p.app }

// OAuth is the OAuth server, for what the host does by itself: suspend an app,
// uninstall it, mint a session token.
func (p *Platform) OAuth() *oauthserver.Server { return p.oauth }

// Events records what happened in a business; see events.Log.Record.
func (p *Platform) Events() *events.Log { return p.events }

// Webhooks are those of all apps: their endpoints and deliveries.
func (p *Platform) Webhooks() *webhooks.Service { return p.hooks }

// AppData is the fields of all apps and their values; nil without Config.Records.
func (p *Platform) AppData() *appdata.Service { return p.data }

// Console is the developer console; nil without Config.Developers.
func (p *Platform) Console() *console.Console { return p.desk }

// Analytics tells how apps use the API.
func (p *Platform) Analytics() *analytics.Counter { return p.calls }
