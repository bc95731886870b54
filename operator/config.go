package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// Host is the backend, as the operator's side sees it. It must be safe for concurrent use.
type Host interface {
	// Session returns the session of this request; false if no user is signed in.
	Session(r *http.Request) (identity.Session, bool, error)
	// User returns the user with the id; false when there is none.
	User(ctx context.Context, userID string) (User, bool, error)
	// EraseUser removes the user from the host: the sessions and the memberships at
	// least. It is called before the platform erases its records, and does nothing for a
	// user who was erased.
	EraseUser(ctx context.Context, userID string) error
}

// Finder is an optional interface of a [Host], with which operators find users by more than their
// id, and apps by the names of organizations.
type Finder interface {
	// FindUsers returns at most limit users whose id or email address is the query, or contains it.
	FindUsers(ctx context.Context, query string, limit int) ([]User, error)
	// FindOrganizations returns at most limit organizations whose id is the query, or whose name
	// contains it.
	FindOrganizations(ctx context.Context, query string, limit int) ([]console.Organization, error)
}

// User is a user of the host.
type User struct {
	ID         string
	Name       string
	Email      string // may be empty
	IsOperator bool   // one of the platform's own staff
}

// Config of an [Operator]. Store, Host, OAuth, Console and Analytics are required; the zero
// value of everything else is its default.
type Config struct {
	Store     consolestore.Store
	Host      Host
	OAuth     *oauthserver.Server
	Console   *console.Console
	Analytics *analytics.Counter
	// BusinessName returns the name of a business; empty if it is not known. Nil: pages show
	// ids only.
	BusinessName func(ctx context.Context, businessID string) (string, error)
	Service      string // names the service in challenges; empty means "Service"
	// Otherwise serves the requests of users who are not operators, as it serves any path
	// that does not exist; nil: 401 without a session, and 404 with one.
	Otherwise http.Handler
	// Limited counts the requests of operators, before they are served; nil: they are not
	// counted. Otherwise counts its requests itself.
	Limited func(next http.Handler) http.Handler
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

// Operator is the platform staff's side. It is safe for concurrent use.
type Operator struct {
	cfg    Config
	errors apierror.Writer
	csrf   *http.CrossOriginProtection
	routes http.Handler
}

// New checks the configuration and returns an operator's side.
func New(cfg Config) (*Operator, error) {
	switch {
	case cfg.Store == nil:
		return nil, errors.New("operator: Config.Store is nil")
	case cfg.Host == nil:
		return nil, errors.New("operator: Config.Host is nil")
	case cfg.OAuth == nil || cfg.Console == nil || cfg.Analytics == nil:
		return nil, errors.New("operator: Config.OAuth, Console or Analytics is nil")
	}
	cfg.Service = cmp.Or(cfg.Service, "Service")
	cfg.Clock = clock.From(cfg.Clock)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	o := &Operator{cfg: cfg, errors: apierror.Writer{Logger: cfg.Logger, Service: cfg.Service, Shape: cfg.ErrorShape}, csrf: http.NewCrossOriginProtection()}
	for _, origin := range cfg.Origins {
		if err := o.csrf.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("operator: Config.Origins: %w", err)
		}
	}
	o.routes = o.newRoutes()
	return o, nil
}
