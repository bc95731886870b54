package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/webhooks"
)

// Host is the backend, as the console sees it. It must be safe for concurrent use.
type Host interface {
	// Session returns the session of this request; false if no user is signed in.
	Session(r *http.Request) (identity.Session, bool, error)
	// Organizations lists those that the user is a member of, in the order in
	// which a page should show them.
	Organizations(ctx context.Context, userID string) ([]Organization, error)
}

// Organization makes apps.
type Organization struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

const defaultMaxFunctions = 20

// Options are the settings that only the console has. The zero value of a field is its default.
type Options struct {
	// MaxFunctions is how many functions an app may have; 0 means 20. The other bounds
	// are of OAuth and Webhooks.
	MaxFunctions int
	// FunctionChecker checks the sources of functions; nil: a function is any text that
	// is not blank, in any language. See console/jscheck for JavaScript.
	FunctionChecker FunctionChecker
	// MoveClock moves the clock forward and returns once what is then due has happened. For
	// development only: it adds a control to the console's pages. Nil means none.
	MoveClock func(ctx context.Context, by time.Duration) error
	// RecordEvent records an event in a business. For development only: it adds a control to
	// the console's pages with which developers record events in businesses that have
	// connected their app. Nil means none.
	RecordEvent func(ctx context.Context, event events.Draft) error
}

// Config of a [Console]. Store, Host, OAuth, Webhooks and Analytics are required; the
// zero value of everything else is its default.
type Config struct {
	Store     consolestore.Store
	Host      Host
	OAuth     *oauthserver.Server
	Webhooks  *webhooks.Service
	Analytics *analytics.Counter
	AppData   *appdata.Service // nil: apps declare no fields
	Events    events.Catalog   // the zero value means events.DefaultCatalog
	// EventRetention is how long events are shown; 0 means events.Retention.
	EventRetention time.Duration
	Service        string // names the service in challenges; empty means "Service"
	// Versions are the names of the API's versions that an app may pin; none:
	// the API has no versions.
	Versions []string
	// Serves reports whether a version is served at a time; nil: all are. A version that is
	// not served cannot be pinned again; existing pins stay.
	Serves func(version string, at time.Time) bool
	// AllowLoopback lets App URLs point to this machine, over http. For development
	// only.
	AllowLoopback bool
	// ResourceTypes are the types of records that extensions may belong to, each with
	// the scope to read it; nil means appdata.DefaultTypes.
	ResourceTypes map[string]string
	Options

	// Limiter and Limits are those of the guarded API, whose use the console shows. If
	// Limiter is nil or does not implement ratelimit.Peeker, no use is shown. It also counts the
	// checks of functions; nil: this console alone counts its own.
	Limiter ratelimit.Limiter
	Limits  ratelimit.Limits // zero fields: their defaults
	// UserName returns the name of a user for the audit log; empty if it is not known. Nil:
	// the log shows ids.
	UserName func(ctx context.Context, userID string) (string, error)
	// BusinessName returns the name of a business, which is shown to the developers of an app
	// that the business has connected; empty if it is not known. Nil: only ids are shown.
	BusinessName func(ctx context.Context, businessID string) (string, error)
	// Origins are the origins whose pages may write with the session cookie, such as
	// https://app.example.com.
	Origins []string

	Clock  clock.Clock  // nil: the real time
	Logger *slog.Logger // nil: discards
	// Notifications queues the notifications for the host's staff; nil: none are sent.
	Notifications *events.Notifications
	// ErrorShape replaces the standard shape of errors; nil: apierror.StandardShape.
	ErrorShape apierror.ShapeFunc
}

// Console is the developer console. It is safe for concurrent use.
type Console struct {
	cfg    Config
	errors apierror.Writer
	csrf   *http.CrossOriginProtection
	routes http.Handler
	checks *turns
}

// New checks the configuration and returns a console.
func New(cfg Config) (*Console, error) {
	switch {
	case cfg.Store == nil:
		return nil, errors.New("console: Config.Store is nil")
	case cfg.Host == nil:
		return nil, errors.New("console: Config.Host is nil")
	case cfg.OAuth == nil || cfg.Webhooks == nil || cfg.Analytics == nil:
		return nil, errors.New("console: Config.OAuth, Webhooks or Analytics is nil")
	case cfg.MaxFunctions < 0:
		return nil, errors.New("console: Config.MaxFunctions is negative")
	}
	cfg.Service = cmp.Or(cfg.Service, "Service")
	cfg.MaxFunctions = cmp.Or(cfg.MaxFunctions, defaultMaxFunctions)
	if len(cfg.Events.All()) == 0 {
		cfg.Events = events.DefaultCatalog()
	}
	if cfg.ResourceTypes == nil {
		cfg.ResourceTypes = appdata.DefaultTypes()
	}
	cfg.EventRetention = cmp.Or(cfg.EventRetention, events.Retention)
	cfg.Limits = cfg.Limits.WithDefaults()
	cfg.Clock = clock.From(cfg.Clock)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Console{cfg: cfg, errors: apierror.Writer{Logger: cfg.Logger, Service: cfg.Service, Shape: cfg.ErrorShape}, csrf: http.NewCrossOriginProtection()}
	var err error
	for _, origin := range cfg.Origins {
		if err = c.csrf.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("console: Config.Origins: %w", err)
		}
	}
	if c.checks, err = newTurns(cfg.Limiter); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	c.routes = c.newRoutes()
	return c, nil
}
