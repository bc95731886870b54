package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/httpapi"
	"github.com/partnerkit/partnerkit/internal/muxes"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// Tokens returns the principal of a call with an access token; an
// oauthserver.Server implements it. The Version of the principal is the one that
// the app has pinned. identity.ErrInvalidToken rejects the token, and an
// identity.InvalidTokenError tells the app why; any other error is an internal error.
type Tokens interface {
	VerifyAccessToken(ctx context.Context, token string) (identity.Principal, error)
}

// Sessions returns the session of a request, from the host's own cookie; false if no user
// is signed in. An error is an internal error. An oauthserver.Host implements it.
//
// A route with SessionsAllowed acts for the user and the business of the session,
// so its BusinessID must be one that the user is a member of now, or empty.
type Sessions interface {
	Session(r *http.Request) (identity.Session, bool, error)
}

// ForeignTokens says on whose behalf a call with a bearer token of the host is made, and
// false for a token that it does not know. The token is visible ASCII. Tokens of this
// library's form, which begin with pk_at_ and the like, are never passed to it. The
// request is there for its context and its headers, such as one that names the business;
// the body must not be read. An error or a panic is an internal error.
//
// The session needs a UserID; an internal service has one of its own. As with [Sessions],
// the BusinessID must be one that the user is a member of now, or empty. A function that
// verifies JWTs must accept those of its own issuer and keys only: session tokens for
// embedded apps are JWTs too, signed by the keys of /.well-known/jwks.json.
type ForeignTokens func(r *http.Request, token string) (identity.Session, bool, error)

// Users returns the status of a user, which decides whether the user may act; an
// oauthstore.Store implements it. An error is an internal error.
type Users interface {
	UserStatus(ctx context.Context, userID string) (identity.UserStatus, error)
}

// Analytics counts each call that was made with a token, after its response. Calls with an
// expired or revoked token are included if the app is known. Count must not block. An
// analytics.Counter implements Analytics.
type Analytics interface {
	Count(call analytics.Call)
}

// Middleware wraps a handler.
type Middleware func(next apierror.Handler) apierror.Handler

// Config of a [Surface]. Tokens is required; the zero value of everything else is
// its default.
type Config struct {
	Tokens   Tokens
	Sessions Sessions // nil: no sessions
	// ForeignTokens accepts bearer tokens of the host's own clients, such as its mobile
	// app; nil: there are none. Their calls are treated like those of a person with a
	// session, except that no origin is checked: a browser does not add a bearer token by
	// itself.
	ForeignTokens ForeignTokens
	Users         Users       // refuses the sessions of suspended users; nil: no user is suspended
	Permissions   Permissions // nil: no route may ask for one
	Versions      Versions    // zero: the API has no versions

	// Scopes is the catalog of scopes that routes may require; zero: any. With a catalog a
	// misspelled scope is refused when its route is registered.
	Scopes identity.ScopeCatalog
	// Fallback gets what people with a session ask for and no route serves:
	// the host's own handlers. Nil means that there are none. An
	// *http.ServeMux responds to unknown paths and methods in the standard shape.
	Fallback http.Handler
	// Origins are the origins whose pages may send writes with a session cookie, such
	// as https://app.example.com. Others are refused, besides the API's own.
	Origins []string
	// SessionOrigins are origins whose pages may call routes with SessionsAllowed, and
	// Fallback, with the browser's cookies (credentialed CORS), spelled as browsers do: in
	// lower case, without a default port. Their writes are accepted as those of Origins.
	SessionOrigins []string
	// Idempotency wraps the handlers of routes that write, and runs after all gates:
	// [idempotency.Keys.Wrap]. Nil means none; [idempotency.Respond] needs one.
	Idempotency Middleware
	Analytics   Analytics // nil: calls are not counted

	// Service names the service, in challenges and in the header that asks for
	// a version. Empty means "Service".
	Service string
	// ResourceMetadata returns the URL that challenges on a path point to (RFC 9728), as
	// an oauthserver.Server's ResourceMetadataURL does; nil leaves it out.
	ResourceMetadata func(path string) string

	// ErrorShape replaces the standard shape of errors; nil: apierror.StandardShape.
	ErrorShape apierror.ShapeFunc

	Limiter ratelimit.Limiter // nil: in memory
	Limits  ratelimit.Limits  // zero fields: their defaults
	Proxies ratelimit.Proxies // whose X-Forwarded-For is believed
	Clock   clock.Clock       // nil: the real time
	Logger  *slog.Logger      // nil: discards

	// Scheme is that of the API's public URL, http or https, for url.scheme in metrics and
	// spans. Empty means that of the connection, which a proxy that ends TLS hides.
	Scheme         string
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
	routes        []Route // all, in the order in which they were opened
	undeclared    gates
	hasFallback   bool
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
		errors:        apierror.Writer{Logger: cfg.Logger, Service: cfg.Service, ResourceMetadata: cfg.ResourceMetadata, Shape: cfg.ErrorShape},
		versionHeader: http.CanonicalHeaderKey(httpapi.VersionHeader(cfg.Service)),
		origins:       http.NewCrossOriginProtection(),
		mux:           http.NewServeMux(),
		hasFallback:   cfg.Fallback != nil,
	}
	for _, origin := range slices.Concat(cfg.Origins, cfg.SessionOrigins) {
		if err := s.origins.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("guard: Config.Origins or SessionOrigins: %w", err)
		}
	}
	if s.versions, err = cfg.Versions.index(); err != nil {
		return nil, err
	}
	if s.telemetry, err = newTelemetry(cfg); err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	switch own := cfg.Fallback.(type) {
	case nil:
		s.cfg.Fallback = muxes.WithErrors(http.NewServeMux(), s.errors.WriteStandard)
	case *http.ServeMux:
		s.cfg.Fallback = muxes.WithErrors(own, s.errors.WriteStandard)
	}
	s.undeclared = gates{surface: s}
	s.handler = s.cors(s.errors.ValidPath(http.HandlerFunc(s.route)))
	return s, nil
}

func (c Config) withDefaults() (Config, error) {
	if c.Service == "" {
		c.Service = "Service"
	}
	if !slices.Contains([]string{"", "http", "https"}, c.Scheme) {
		return c, fmt.Errorf("guard: Config.Scheme is %q, not http or https", c.Scheme)
	}
	if err := c.Limits.Validate(); err != nil {
		return c, fmt.Errorf("guard: Config.%w", err)
	}
	c.Limits = c.Limits.WithDefaults()
	c.Clock = clock.From(c.Clock)
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
