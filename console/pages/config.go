package pages

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
)

//go:embed all:templates
var files embed.FS

// Config of [Pages]. Console and SignIn are required; the zero value of everything
// else is its default.
type Config struct {
	Console *console.Console
	// SignIn answers a request of somebody who is not signed in, with the path and
	// query to come back to.
	SignIn func(w http.ResponseWriter, r *http.Request, returnTo string)
	// Service is what the host calls itself; empty means "Service".
	Service string
	// Prefix is the path that the pages are mounted at; empty means /developer.
	Prefix string
	// Origins are those whose pages may write, besides the one that the request went
	// to: the public origin, where a proxy changes the Host header.
	Origins []string
	// Links lead to the host's own pages, from the header of every page.
	Links []Link
	// Person returns the name of who is signed in, for the header; nil: it is not
	// shown.
	Person func(r *http.Request) string
	// SignOut is the path that a form posts to in order to sign out; empty: there is
	// no such button.
	SignOut string
	// MoveClock moves the clock of everything forward, and returns once what is then
	// due has happened. For development only: it puts a control for it on the pages.
	MoveClock func(ctx context.Context, by time.Duration) error

	Clock  clock.Clock  // nil: the real time
	Logger *slog.Logger // nil: discards
}

// Link leads to a page of the host's.
type Link struct{ Text, Href string }

// Pages serves the console's pages. It is safe for concurrent use.
type Pages struct {
	cfg    Config
	errors apierror.Writer
	csrf   *http.CrossOriginProtection
	set    *look.Set
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
	if cfg.Service == "" {
		cfg.Service = "Service"
	}
	if cfg.Prefix == "" {
		cfg.Prefix = "/developer"
	}
	if !strings.HasPrefix(cfg.Prefix, "/") || strings.HasSuffix(cfg.Prefix, "/") || strings.ContainsAny(cfg.Prefix, "{} ?#") {
		return nil, fmt.Errorf("console/pages: Config.Prefix %q is not a path like /developer", cfg.Prefix)
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Pages{cfg: cfg, errors: apierror.Writer{Logger: cfg.Logger, Service: cfg.Service}, csrf: http.NewCrossOriginProtection()}
	for _, origin := range cfg.Origins {
		if err := p.csrf.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("console/pages: Config.Origins: %w", err)
		}
	}
	var err error
	if p.set, err = look.Parse(files, "templates", p.functions()); err != nil {
		return nil, fmt.Errorf("console/pages: %w", err)
	}
	p.routes = p.newRoutes()
	return p, nil
}
