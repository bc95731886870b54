package partnerkit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/longwindows"
	"github.com/partnerkit/partnerkit/internal/requestid"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	oauthpages "github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/operator"
	operatorpages "github.com/partnerkit/partnerkit/operator/pages"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/theme"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// Store is all that the features keep. storage/sqlite and storage/postgres open
// one that satisfies it. docs/store.md states the contract for stores of your own, which
// storage/storetest certifies. A store may also implement Run(ctx) error, which [Platform.Run]
// runs.
type Store interface {
	oauthstore.Store
	keystore.Store
	guard.WindowStore
	callstore.Store
	eventstore.Store
	webhookstore.Store
	valuestore.Store
	consolestore.Store
}

// Config of a [Platform]. Store, Host, Keyring and the two URLs are required; the zero value of
// everything else is its default.
type Config struct {
	Store   Store
	Host    oauthserver.Host
	Keyring *keyring.Keyring

	// APIURL and AppURL are the public origins of the two hosts, such as
	// https://api.example.com. They must differ. Nothing that a request says changes
	// them.
	APIURL, AppURL string
	// Service names the service in challenges and on pages; empty means
	// "Service".
	Service string
	// Scopes that the service knows; the zero value means
	// identity.DefaultScopes.
	Scopes identity.ScopeCatalog

	// Pages are the pages of the OAuth server, for a front end of the host's own; nil means
	// those of oauthserver/pages. The pages of the console and of the operator's side are
	// console/pages and operator/pages.
	Pages oauthpages.Pages
	// Theme is the brand on all pages: consent, devices, connected apps and the console.
	// The zero value is the default look.
	Theme theme.Theme
	// ThemeFor returns the theme of a request, for hosts with several brands; nil means Theme.
	// The request's context carries the session of the person who is signed in, see
	// identity.SessionFrom. If it panics, takes longer than a second or returns a wrong theme, Theme is used and the
	// reason is logged.
	ThemeFor func(r *http.Request) theme.Theme
	// Languages of the pages that a business's people see; the zero value means English
	// alone. The console is in English.
	Languages locale.Languages

	// Routes are the routes of the API host that apps may call, each with its
	// requirements. Apps cannot call any other route. Paths below /oauth/ and
	// /.well-known/ belong to the OAuth server, those below /developer to the console if
	// Developers is set, and those below /operator to the operators if Operators is set. A
	// route there is refused.
	Routes []guard.Route
	// Resources are the parts of the API host that have metadata of their own (RFC 9728),
	// such as an MCP endpoint at /mcp: some clients discard metadata whose resource is not
	// the URL that they called. What is served there are Routes. The API host as a whole
	// has metadata in any case.
	Resources []oauthserver.Resource
	// ForeignTokens accepts bearer tokens of the host's own clients on the API host, such
	// as its mobile app and internal services; nil: there are none. Their calls are
	// treated like those of a person with a session: Routes with SessionsAllowed, else
	// APIRoutes. The console takes cookies only.
	ForeignTokens guard.ForeignTokens
	// SessionOrigins are the origins whose pages may call the API host with the session
	// cookie: Routes with SessionsAllowed and APIRoutes. AppURL can be one of them. Responses
	// to these pages name their origin and allow credentials, and their writes pass the check
	// against cross-site requests. Pages of all other origins can call the API host without
	// credentials. Name only origins whose pages may do all that a signed-in person may.
	SessionOrigins []string
	// Schemas are JSON Schemas by name, to which the descriptions of Routes and the schemas of
	// Events refer as "#/components/schemas/Name"; see [Platform.OpenAPI]. New returns an error
	// for a reference to nothing.
	Schemas map[string]json.RawMessage
	// Events is the event catalog. The zero value means those events of
	// events.DefaultCatalog whose scopes Scopes has, so that every event on offer can be
	// received: all of them with the default scopes. New returns an error for an event of
	// another catalog whose scope Scopes does not have. The Events API is served when Scopes
	// has [EventsScope].
	Events events.Catalog
	// CompileSchema compiles the schemas of Events, with which data is checked before it is
	// recorded: recording data that does not follow its schema returns
	// events.ErrInvalidDraft. events/schemacheck has one. Nil means that data is not checked;
	// samples are always compared with the main keywords of their schemas.
	CompileSchema events.SchemaCompiler
	// Records knows the host's records, for app data; nil means that apps cannot attach
	// values.
	Records appdata.Records
	// Developers says who makes apps; nil: there is no console. Its JSON is served
	// below /developer on the API host, its pages below /developer on the app host.
	Developers console.Host
	// Operators says who the platform's own staff are; nil: there is no operator's side. It
	// needs Developers, whose listings are reviewed there. Its JSON is served below
	// /operator on the API host, its pages below /operator on the app host. For other
	// users these paths do not exist.
	Operators operator.Host
	// BusinessName returns the name of a business for the developers of an app that the
	// business has connected, and for operators; empty if it is not known. Nil: pages show ids only.
	BusinessName func(ctx context.Context, businessID string) (string, error)
	// Permissions is the second gate of routes that declare one; nil: none may.
	Permissions guard.Permissions
	// Versions of the API; zero: it has none.
	Versions guard.Versions

	// ErrorShape replaces the standard shape of errors, wherever the API host, the
	// console or the app host responds with one; nil means apierror.StandardShape.
	// apierror.ProblemDetails is one for RFC 9457. OAuth endpoints keep the OAuth shape.
	ErrorShape apierror.ShapeFunc

	// APIRoutes and AppRoutes are the host's own handlers on each of the two hosts. They get
	// requests that no feature handles; on the API host only requests with a session. Nil
	// means none. A route of the API host without credentials, such as a health check, must be
	// handled in front of [Platform.API].
	APIRoutes, AppRoutes http.Handler

	// Limiter counts calls and failures; nil: in memory. The windows of a ratelimit.Memory that
	// are an hour and longer are kept in the Store, for the next start.
	Limiter ratelimit.Limiter
	// Limits holds the numbers of all limits, and exceptions by app, business and route.
	// Zero fields mean their defaults.
	Limits ratelimit.Limits
	// Lifetimes of codes and tokens. Zero fields mean their defaults.
	Lifetimes oauthserver.Lifetimes
	// Retention is how long records are kept. Zero fields mean their defaults. See
	// Webhooks.RetryDelays for the attempts of deliveries.
	Retention Retention
	Proxies   ratelimit.Proxies // whose X-Forwarded-For is believed
	Clock     clock.Clock       // nil: the real time
	Logger    *slog.Logger      // nil: discards

	// RequestID returns the id that the host's own gateway gave a request: 1 to 128 visible
	// ASCII characters that no client can choose. Any other result, and every id if
	// RequestID is nil, is replaced by a random one. The id is in X-Request-Id of every
	// response, in logs and traces, in the texts of internal errors and in the request log
	// of the console; handlers read it with apierror.RequestID. A handler in front of
	// [Platform.API], such as a health check, gets it from apierror.WithRequestIDs.
	RequestID func(r *http.Request) string

	// Dial opens the connections of webhooks and client metadata documents, for networks
	// that can be left through an egress proxy only; see webhooks.Config.Dial for what is
	// checked before it is called. Nil means direct connections.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Notifier receives the notifications for the host's staff: an app was connected, a
	// refresh token was reused, a webhook is failing. It is called after the change has
	// committed, outside of requests, and again if it fails. Nil means that notifications are
	// logged.
	Notifier events.Notifier

	MeterProvider  metric.MeterProvider // nil: no metrics
	TracerProvider trace.TracerProvider // nil: no spans

	Console  console.Options     // the settings that only the console has
	OAuth    oauthserver.Options // the settings that only the OAuth server has
	Webhooks webhooks.Options    // the settings that only webhooks have
}

// Retention is how long records are kept. A zero field means its default.
type Retention struct {
	Events          time.Duration // and shown by the Events API; 30 days
	Deliveries      time.Duration // and can be sent again; 30 days
	Calls           time.Duration // counts of analytics; 400 days, which is the most
	Audit           time.Duration // 365 days
	IdempotencyKeys time.Duration // 24 hours
}

// EventsScope is the scope that apps need to read the events of a business.
const EventsScope = "events:read"

// Platform is the features, put together. It is safe for concurrent use.
type Platform struct {
	cfg           Config
	errors        apierror.Writer
	told          *events.Notifications
	oauth         *oauthserver.Server
	keys          *idempotency.Keys
	windows       *longwindows.Windows // nil unless Config.Limiter is a ratelimit.Memory
	calls         *analytics.Counter
	events        *events.Log
	hooks         *webhooks.Service
	data          *appdata.Service     // nil without Config.Records
	console       *console.Console     // nil without Config.Developers
	consolePages  *pages.Pages         // nil likewise
	operator      *operator.Operator   // nil without Config.Operators
	operatorPages *operatorpages.Pages // nil likewise

	listings *console.LiveListings // nil likewise
	guard    *guard.Surface
	api      http.Handler
	app      http.Handler

	describe func() []byte // generates the API description once
}

// New puts the features together and starts nothing: [Platform.Run] does the
// work that no request causes. The error names every field that is wrong, with the reason.
func New(cfg Config) (*Platform, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("partnerkit: %w", err)
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Platform{cfg: cfg, errors: apierror.Writer{Logger: cfg.Logger, Service: cfg.Service, Shape: cfg.ErrorShape}}
	for _, build := range []func() error{p.newNotifications, p.newAnalytics, p.newOAuth, p.newEvents, p.newAppData, p.newSurface, p.newConsole, p.newOperator, p.checkSchemas} {
		if err := build(); err != nil {
			return nil, fmt.Errorf("partnerkit: %w", err)
		}
	}
	p.api = apierror.WithRequestIDs(cfg.RequestID, p.newAPI())
	p.app = apierror.WithRequestIDs(cfg.RequestID, p.newApp())
	p.describe = sync.OnceValue(func() []byte { return p.description(p.descriptionInput()) })
	return p, nil
}

func (c Config) withDefaults() (Config, error) {
	if c.Service == "" {
		c.Service = "Service"
	}
	if c.Pages == nil {
		c.Pages = oauthpages.New()
	}
	if len(c.Scopes.All()) == 0 {
		c.Scopes = identity.DefaultScopes()
	}
	var err error
	if c.Events, err = eventsFor(c.Scopes, c.Events); err != nil {
		return c, fmt.Errorf("partnerkit: %w", err)
	}
	c.Limits = c.Limits.WithDefaults()
	c.Clock = clock.From(c.Clock)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Logger = requestid.Logger(c.Logger)
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

// API returns the handler of the API host, which apps call.
func (p *Platform) API() http.Handler { return p.api }

// App returns the handler of the app host, which shows pages to people.
func (p *Platform) App() http.Handler { return p.app }

// OAuth returns the OAuth server, for the host's own operations: suspend an app, uninstall
// it, issue a session token.
func (p *Platform) OAuth() *oauthserver.Server { return p.oauth }

// Events returns the log of events, in which the host records what happened in a business; see
// [events.Log.RecordIn].
func (p *Platform) Events() *events.Log { return p.events }

// Webhooks returns the service for the webhooks of all apps and their deliveries.
func (p *Platform) Webhooks() *webhooks.Service { return p.hooks }

// AppData returns the fields of all apps and their values; nil without Config.Records.
func (p *Platform) AppData() *appdata.Service { return p.data }

// Console returns the developer console; nil without Config.Developers.
func (p *Platform) Console() *console.Console { return p.console }

// Operator returns the platform staff's side; nil without Config.Operators.
func (p *Platform) Operator() *operator.Operator { return p.operator }

// Wake tells the platform that the host has committed a transaction of its own in which it
// recorded events. They are delivered at once; without Wake within one second. A
// transaction of the store's BeginTx needs no Wake.
func (p *Platform) Wake() { p.hooks.Wake() }

// Notifications returns the queue in front of Config.Notifier.
func (p *Platform) Notifications() *events.Notifications { return p.told }

// Analytics returns the counter of API calls, which reports how apps use the API.
func (p *Platform) Analytics() *analytics.Counter { return p.calls }
