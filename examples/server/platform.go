package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/examples/books"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/sandbox"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
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

// developmentSessionLifetime is long because the clock is moved by months, and signing in
// again after each move would only be in the way.
const developmentSessionLifetime = 10 * 365 * 24 * time.Hour

// backend is the books as a sandbox serves them: the people of the fixtures are rows of the
// books, with passwords, roles and sessions.
type backend struct {
	books.Host
	books        *books.Books
	site         *books.Site
	now          func() time.Time
	cookieDomain string
}

func (b *backend) addFlags(flags *flag.FlagSet) {
	flags.StringVar(&b.cookieDomain, "cookie-domain", "", "`domain` of the session cookie, when the two hosts share a parent domain (default: the host alone)")
}

// check reports a mistake in the flags.
func (b *backend) check(set sandbox.Settings) error {
	return checkCookieDomain(b.cookieDomain, set.APIHost, set.AppHost)
}

// configure wires the books and the platform together.
func (b *backend) configure(cfg *partnerkit.Config) error {
	store, ok := cfg.Store.(*sqlstore.Store)
	if !ok {
		return fmt.Errorf("the books have no tables in a %T", cfg.Store)
	}
	var err error
	if b.books, err = books.Open(context.Background(), store, cfg.Clock); err != nil {
		return err
	}

	// The backend: package books has users, businesses, records, and pages to sign in on.
	// Yours is there already.
	site := books.SiteConfig{
		Books: b.books, APIURL: cfg.APIURL, AppURL: cfg.AppURL, CookieDomain: b.cookieDomain,
		Errors: apierror.Writer{Logger: cfg.Logger, Service: service}, Limiter: cfg.Limiter, Proxies: cfg.Proxies, Clock: cfg.Clock, Logger: cfg.Logger,
		Links: []theme.Link{{Text: "API", Href: "/openapi"}},
	}
	if cfg.Console.MoveClock != nil { // development mode
		site.SessionLifetime = developmentSessionLifetime
	}
	if b.site, err = books.NewSite(site); err != nil {
		return err
	}
	b.Host, b.now = b.site.Host(), cfg.Clock.Now

	// The platform: what it asks of the backend, and what it serves for it.
	cfg.Service, cfg.Versions = service, apiVersions
	cfg.Host, cfg.Developers, cfg.Operators, cfg.Permissions, cfg.Records = b, b.Host, b.Host, b.books, b.books.Ledger()
	cfg.BusinessName, cfg.OAuth.OrganizationName = b.Host.BusinessName, b.books.OrganizationName
	cfg.Routes, cfg.Schemas = b.books.Routes(), b.books.Schemas()
	cfg.AppRoutes, cfg.Theme, cfg.ThemeFor = b.site, b.site.Theme(), b.site.ThemeFor
	cfg.OAuth.ConnectedApps, cfg.OAuth.BusinessPath = b.site.ConnectedApps(), books.BusinessPath
	return nil
}

// Connect gives the pages of the books the platform.
func (b *backend) Connect(p *partnerkit.Platform) { b.site.Connect(p) }

// checkCookieDomain rejects a domain that browsers would not accept from both hosts:
// no user could sign in, and no message would explain why.
func checkCookieDomain(domain string, hosts ...string) error {
	for _, host := range hosts {
		switch {
		case domain == "" || domain == host:
		case !strings.HasSuffix(host, "."+domain):
			return fmt.Errorf("-cookie-domain %q is no parent domain of %s", domain, host)
		case !strings.Contains(domain, "."):
			return fmt.Errorf("-cookie-domain %q has no dot: browsers accept no cookie for a top-level domain", domain)
		}
	}
	return nil
}
