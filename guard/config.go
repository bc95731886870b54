package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// Tokens says on whose behalf a call with an access token is made; an
// oauthserver.Server does. The Version of the principal is the one that the app
// has pinned. oauthserver.ErrInvalidToken is an answer, any other error a fault.
type Tokens interface {
	VerifyAccessToken(ctx context.Context, token string) (identity.Principal, error)
}

// Sessions says who is signed in on a request, by a cookie of the host's; false
// when nobody is. An error is a fault. An oauthserver.Host does.
//
// A route with SessionsAllowed acts for the user and the business of the session,
// so its BusinessID must be one that the user is a member of now, or empty.
type Sessions interface {
	Session(r *http.Request) (identity.Session, bool, error)
}

// Users says whether a user may act; an oauthserver.Store does. An error is a fault.
type Users interface {
	UserStatus(ctx context.Context, userID string) (oauthserver.UserStatus, error)
}

// Analytics is told of each call that was made with a token, when it has been
// answered. It must not block.
type Analytics interface {
	Count(appID string, at time.Time, status int, rateLimited bool, took time.Duration)
	// Use is told which installation the call was made for.
	Use(installationID string, at time.Time)
}

// Middleware wraps a handler.
type Middleware func(next apierror.Handler) apierror.Handler

// Config of a [Surface]. Tokens is required; the zero value of everything else is
// its default.
type Config struct {
	Tokens      Tokens
	Sessions    Sessions    // nil: nobody has a session
	Users       Users       // refuses the sessions of suspended users; nil: nobody is suspended
	Permissions Permissions // nil: no route may ask for one
	Versions    Versions    // zero: the API has no versions

	// Scopes are those that routes may ask for; zero: any. With a catalog a
	// misspelled scope is refused when its route is registered.
	Scopes identity.ScopeCatalog
	// Fallback gets what people with a session ask for and no route serves:
	// the host's own handlers. Nil means that there are none. An
	// *http.ServeMux answers unknown paths and methods in the standard shape.
	Fallback http.Handler
	// Origins are those whose pages may send writes with a session cookie, such
	// as https://app.example.com. Others are refused, besides the API's own.
	Origins []string
	// Idempotency wraps the handlers of routes that write; it runs after all
	// gates. Nil means none; [Answer] needs one.
	Idempotency Middleware
	Analytics   Analytics // nil: nobody counts

	// Service names the service, in challenges and in the header that asks for
	// a version. Empty means "Service".
	Service string
	// ResourceMetadata is the URL that the challenge of a 401 points to
	// (RFC 9728); empty leaves it out.
	ResourceMetadata string

	Limiter ratelimit.Limiter // nil: in memory
	Proxies ratelimit.Proxies // whose X-Forwarded-For is believed
	Clock   clock.Clock       // nil: the real time
	Logger  *slog.Logger      // nil: discards

	MeterProvider  metric.MeterProvider // nil: no metrics
	TracerProvider trace.TracerProvider // nil: no spans
}

// Surface is the routes that are open to apps. It is safe for concurrent use.
type Surface struct {
	cfg           Config
	errors        apierror.Writer
	versionHeader string
	versions      map[string]Version
	origins       *http.CrossOriginProtection
	telemetry     *telemetry
	mux           *http.ServeMux
	patterns      []string // of all routes, in the order in which they were opened
	undeclared    gates
	handler       http.Handler // route, behind CORS
}

// New checks the configuration and returns a surface without routes: a token gets
// nowhere until [Surface.Handle] opens something.
func New(cfg Config) (*Surface, error) {
	if cfg.Tokens == nil {
		return nil, errors.New("guard: Config.Tokens is nil; an oauthserver.Server is one")
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Surface{
		cfg:           cfg,
		errors:        apierror.Writer{Logger: cfg.Logger, Service: cfg.Service, ResourceMetadata: cfg.ResourceMetadata},
		versionHeader: http.CanonicalHeaderKey(oauthserver.VersionHeader(cfg.Service)),
		origins:       http.NewCrossOriginProtection(),
		mux:           http.NewServeMux(),
	}
	for _, origin := range cfg.Origins {
		if err := s.origins.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("guard: Config.Origins: %w", err)
		}
	}
	if s.versions, err = cfg.Versions.index(); err != nil {
		return nil, err
	}
	if s.telemetry, err = newTelemetry(cfg.MeterProvider, cfg.TracerProvider); err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	switch own := cfg.Fallback.(type) {
	case nil:
		s.cfg.Fallback = s.errors.StandardMux(http.NewServeMux())
	case *http.ServeMux:
		s.cfg.Fallback = s.errors.StandardMux(own)
	}
	s.undeclared = s.gatesOf(nil)
	s.handler = oauthserver.CORS(cfg.Service, http.HandlerFunc(s.route))
	return s, nil
}

func (c Config) withDefaults() (Config, error) {
	if c.Service == "" {
		c.Service = "Service"
	}
	if c.Clock == nil {
		c.Clock = clock.System{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Limiter == nil {
		memory, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
		if err != nil {
			return c, fmt.Errorf("guard: %w", err)
		}
		c.Limiter = memory
	}
	return c, nil
}
