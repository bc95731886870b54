package main

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/examples/books"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/theme"
)

// service is the name of the accounting service.
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

	// The backend: package books has users, businesses, records, and pages to sign in on.
	// Yours is there already.
	site := books.SiteConfig{
		Books: p.books, APIURL: p.apiURL, AppURL: p.appURL, CookieDomain: p.cookieDomain,
		Errors: s.errors, Limiter: p.limiter, Proxies: p.proxies, Clock: p.clock, Logger: p.log,
		Links: []theme.Link{{Text: "API", Href: referencePath}},
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

	// The platform: what it asks of the backend, what it serves for it, what it runs on.
	cfg := partnerkit.Config{
		Host: s.site.Host(), Developers: s.site.Host(), Operators: s.site.Host(), Permissions: p.books, Records: p.books.Ledger(),
		FunctionChecker: p.functions, BusinessName: s.site.Host().BusinessName,

		Service: service, APIURL: p.apiURL, AppURL: p.appURL,
		Routes: p.books.Routes(), Schemas: p.books.Schemas(), Versions: apiVersions,
		AppRoutes: s.site, Theme: s.site.Theme(), ThemeFor: s.site.ThemeFor,
		OAuth:    oauthserver.Options{ConnectedApps: s.site.ConnectedApps(), BusinessPath: books.BusinessPath, Documents: oauthserver.DocumentConfig{Policy: p.documents}, RefreshRetry: p.refreshRetry, MaxConnections: p.maxConnections, CustomConnections: p.custom, OrganizationName: p.books.OrganizationName},
		Webhooks: p.webhooks,

		Store: p.store, Keyring: p.ring, Limiter: p.limiter, Proxies: p.proxies, Clock: p.clock,
		Logger: p.log, MeterProvider: p.metrics.library, Notifier: events.LogNotifier(p.log),
	}
	if p.agents {
		admitAgents(&cfg.OAuth)
	}
	if p.dev {
		s.relax(&cfg)
	}
	if s.platform, err = partnerkit.New(cfg); err != nil {
		return nil, err
	}
	s.spec = newDescription(s.platform, p.apiURL, p.appURL)
	for _, pattern := range []string{referencePath, referencePath + "/{topic}", referencePath + "/assets/"} {
		s.site.Handle("GET "+pattern, s.spec.show)
	}
	s.site.Connect(s.platform)
	s.oauth = s.platform.OAuth()
	return s, nil
}
