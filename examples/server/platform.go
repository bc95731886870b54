package main

import (
	"context"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	consolepages "github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/examples/books"
	"github.com/partnerkit/partnerkit/guard"
	oauthpages "github.com/partnerkit/partnerkit/oauthserver/pages"
)

// service is what the accounting service calls itself.
const service = "Service"

// apiVersions are the versions of the API. The first one has been removed, so that partner
// authors can see what that looks like.
var apiVersions = guard.Versions{Current: "2026-09-01", All: []guard.Version{
	{Name: "2025-06-01", Sunset: time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC)},
	{Name: "2026-01-15"},
	{Name: "2026-09-01"},
}}

// newServer wires the books and the platform together.
func newServer(ctx context.Context, p parts) (*server, error) {
	s := &server{parts: p, errors: apierror.Writer{Logger: p.log, Service: service}}
	var err error
	if s.spec, err = newDescription(p.apiURL, p.appURL); err != nil {
		return nil, err
	}

	// The backend: package books has users, businesses, records, and pages to sign in on.
	// Yours is there already.
	site := books.SiteConfig{
		Books: p.books, APIURL: p.apiURL, AppURL: p.appURL, CookieDomain: p.cookieDomain,
		Errors: s.errors, Limiter: p.limiter, Proxies: p.proxies, Clock: p.clock, Logger: p.log,
		Links: []consolepages.Link{{Text: "API", Href: "/openapi"}},
	}
	if p.dev {
		site.SessionLifetime = developmentSessionLifetime
	}
	if s.site, err = books.NewSite(site); err != nil {
		return nil, usage(err)
	}
	if err := checkCookieDomain(p.cookieDomain, p.apiURL, p.appURL); err != nil {
		return nil, err
	}
	s.site.Handle("GET /openapi", s.showDescription)

	// The platform: what it asks of the backend, what it serves for it, what it runs on.
	cfg := partnerkit.Config{
		Host: s.site.Host(), Developers: s.site.Host(), Permissions: p.books, Records: p.books.Ledger(),
		FunctionChecker: p.functions,

		Service: service, APIURL: p.apiURL, AppURL: p.appURL,
		Routes: p.books.Routes(), Versions: apiVersions,
		AppRoutes: s.site, Pages: oauthpages.New(), ConsolePages: s.consolePages(),

		Store: p.store, Keyring: p.ring, Limiter: p.limiter, Proxies: p.proxies, Clock: p.clock,
		Logger: p.log, MeterProvider: p.metrics.library,
	}
	if p.dev {
		s.relax(&cfg)
	}
	if s.platform, err = partnerkit.New(ctx, cfg); err != nil {
		return nil, err
	}
	s.site.Connect(s.platform)
	s.oauth = s.platform.OAuth()
	return s, nil
}

// consolePages shows the console's pages with the links of the site.
func (s *server) consolePages() consolepages.Config {
	return consolepages.Config{Links: s.site.Links(), SignOut: "/logout", Person: func(r *http.Request) string {
		name, _ := s.site.PersonName(r) // a header without a name is no reason to fail
		return name
	}}
}
