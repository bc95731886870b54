package pages

import (
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/theme"
)

//go:embed all:templates
var files embed.FS

// Config of [Pages]. Operator is required; the zero value of everything else is its
// default.
type Config struct {
	Operator *operator.Operator
	// Otherwise serves the requests of users who are not operators, as it serves any path
	// that does not exist; nil: 404.
	Otherwise http.Handler
	// Service is the name of the service; empty means "Service".
	Service string
	// Prefix is the path that the pages are mounted at; empty means /operator.
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

	Clock  clock.Clock  // nil: the real time
	Logger *slog.Logger // nil: discards
}

// Pages serves the operator's pages. It is safe for concurrent use.
type Pages struct {
	cfg    Config
	site   *site.Site
	routes http.Handler
}

// New checks the configuration and reads the templates.
func New(cfg Config) (*Pages, error) {
	if cfg.Operator == nil {
		return nil, errors.New("operator/pages: Config.Operator is nil")
	}
	if cfg.Prefix == "" {
		cfg.Prefix = "/operator"
	}
	if cfg.Otherwise == nil {
		cfg.Otherwise = http.NotFoundHandler()
	}
	cfg.Clock = clock.From(cfg.Clock)
	p := &Pages{cfg: cfg}
	var err error
	p.site, err = site.New(site.Config{
		Templates: files, Functions: template.FuncMap{"ago": func(at time.Time) string { return look.Ago(at, cfg.Clock.Now()) }}, Service: cfg.Service, Prefix: cfg.Prefix, Name: "Operator", Notices: notices,
		Person: func(r *http.Request) string { return callerOf(r).by.Name() }, Origins: cfg.Origins,
		Theme: cfg.Theme, ThemeFor: cfg.ThemeFor, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("operator/pages: %w", err)
	}
	p.routes = p.newRoutes()
	return p, nil
}
