package pages

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/theme"
)

//go:embed all:templates
var files embed.FS

// Config of [Pages]. Console and SignIn are required; the zero value of everything
// else is its default.
type Config struct {
	Console *console.Console
	// SignIn responds to a request without a signed-in user. returnTo is the path and
	// query to return to after signing in.
	SignIn func(w http.ResponseWriter, r *http.Request, returnTo string)
	// Service is the name of the service; empty means "Service".
	Service string
	// Prefix is the path that the pages are mounted at; empty means /developer.
	Prefix string
	// Origins are the origins whose pages may write, besides the one that the request went
	// to: the public origin, where a proxy changes the Host header.
	Origins []string
	// Theme is the brand on the pages, and what else their header shows; the zero value
	// is the default look.
	Theme theme.Theme
	// ThemeFor returns the theme of a request, for hosts with several brands; nil means
	// Theme. See theme.NewSource for what happens when it fails.
	ThemeFor func(r *http.Request) theme.Theme
	// Reads are GET routes of the API without parameters. The quick start of an app shows the
	// first one whose scope the app has; without one it shows no call.
	Reads []Read
	// MoveClock moves the clock of everything forward, and returns once what is then
	// due has happened. For development only: it puts a control for it on the pages.
	MoveClock func(ctx context.Context, by time.Duration) error
	// RecordEvent records an event in a business. For development only: it lets developers
	// record the sample of an event in a business that has connected their app. Every app
	// that is connected there gets the event. Nil means that the pages have no control for it.
	RecordEvent func(ctx context.Context, event events.Draft) error

	Clock  clock.Clock  // nil: the real time
	Logger *slog.Logger // nil: discards
}

// Read is a GET route of the API.
type Read struct {
	Path  string
	Scope string // that the route needs
}

// Pages serves the console's pages. It is safe for concurrent use.
type Pages struct {
	cfg    Config
	site   *site.Site
	routes http.Handler
}

// New checks the configuration and reads the templates.
func New(cfg Config) (*Pages, error) {
	switch {
	case cfg.Console == nil:
		return nil, errors.New("console/pages: Config.Console is nil")
	case cfg.SignIn == nil:
		return nil, errors.New("console/pages: Config.SignIn is nil")
	}
	if cfg.Prefix == "" {
		cfg.Prefix = "/developer"
	}
	cfg.Clock = clock.From(cfg.Clock)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Pages{cfg: cfg}
	var err error
	p.site, err = site.New(site.Config{
		Templates: files, Functions: p.functions(), Service: cfg.Service, Prefix: cfg.Prefix, Name: "Developers", Notices: notices,
		Person: p.person, Origins: cfg.Origins, Theme: cfg.Theme, ThemeFor: cfg.ThemeFor, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("console/pages: %w", err)
	}
	p.routes = p.newRoutes()
	return p, nil
}
