package partnerkit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/hostrequest"
	"github.com/partnerkit/partnerkit/internal/httpapi"
	"github.com/partnerkit/partnerkit/internal/longwindows"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/operator"
	operatorpages "github.com/partnerkit/partnerkit/operator/pages"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/webhooks"
)

func (p *Platform) newNotifications() (err error) {
	c := p.cfg
	p.told, err = events.NewNotifications(events.NotificationsConfig{Notifier: c.Notifier, Clock: c.Clock, Logger: c.Logger, MeterProvider: c.MeterProvider})
	return err
}

func (p *Platform) newAnalytics() (err error) {
	c := p.cfg
	p.calls, err = analytics.New(analytics.Config{Store: c.Store, Retention: c.Retention.Calls, Clock: c.Clock, Logger: c.Logger, MeterProvider: c.MeterProvider})
	return err
}

func (p *Platform) newOAuth() (err error) {
	c := p.cfg
	oauth := oauthserver.Config{
		Store: c.Store, Host: c.Host, Keyring: c.Keyring, Pages: c.Pages,
		APIURL: c.APIURL, AppURL: c.AppURL, Service: c.Service, Scopes: c.Scopes, Resources: c.Resources,
		Theme: c.Theme, ThemeFor: c.ThemeFor, Languages: c.Languages,
		Limiter: c.Limiter, Limits: c.Limits, Lifetimes: c.Lifetimes, AuditRetention: c.Retention.Audit, Proxies: c.Proxies,
		Dial: c.Dial, Clock: c.Clock, Logger: c.Logger, MeterProvider: c.MeterProvider,
		ErrorShape: c.ErrorShape, Notifications: p.told, Options: c.OAuth,
	}
	if c.Operators != nil {
		oauth.Documents.Policy = operator.DocumentPolicy(c.Store, oauth.Documents.Policy)
	}
	if c.Developers != nil && oauth.Listings == nil {
		p.listings = console.NewLiveListings(c.Store, iconPath)
		oauth.Listings = p.listings
	}
	if oauth.ConnectedApps.PersonName == nil {
		oauth.ConnectedApps.PersonName = p.cfg.userName()
	}
	if oauth.ConnectedApps.LastUses == nil {
		oauth.ConnectedApps.LastUses = p.calls.LastUses
	}
	if c.Developers != nil && oauth.IsDeveloper == nil {
		oauth.IsDeveloper = func(ctx context.Context, organizationID, userID string) (bool, error) {
			organizations, err := c.Developers.Organizations(ctx, userID)
			return slices.ContainsFunc(organizations, func(o console.Organization) bool { return o.ID == organizationID }), err
		}
	}
	permissions := routePermissions{c.Routes, c.Permissions}
	oauth.CallPermissions, oauth.LentPermissions = permissions.ofInstallation, permissions.ofUser
	oauth.SecretUsed = p.calls.Use
	if p.oauth, err = oauthserver.New(oauth); err != nil {
		return err
	}
	p.cfg.APIURL, p.cfg.AppURL = p.oauth.Origins()
	return nil
}

// eventsFor returns a catalog, or if it is empty the events of the default catalog that apps
// with some of the scopes can receive.
func eventsFor(scopes identity.ScopeCatalog, catalog events.Catalog) (events.Catalog, error) {
	given := catalog.All()
	if len(given) == 0 {
		fitting := slices.DeleteFunc(events.DefaultCatalog().All(), func(d events.Definition) bool {
			return d.Scope != "" && !scopes.Requestable().Has(d.Scope)
		})
		return events.NewCatalog(fitting...)
	}
	var errs []error
	for _, d := range given {
		if d.Scope != "" && !scopes.Names().Has(d.Scope) {
			errs = append(errs, fmt.Errorf("Config.Events: %s needs the scope %s, which Config.Scopes does not have", d.Name, d.Scope))
		}
	}
	return catalog, errors.Join(errs...)
}

// newEvents creates the event log and the webhooks that deliver its events.
func (p *Platform) newEvents() (err error) {
	c := p.cfg
	p.events, err = events.New(events.Config{Store: c.Store, Catalog: c.Events, CompileSchema: c.CompileSchema, Schemas: c.Schemas, Retention: c.Retention.Events, Clock: c.Clock, Logger: c.Logger})
	if err != nil {
		return err
	}
	p.hooks, err = webhooks.New(webhooks.Config{
		Store: c.Store, Keyring: c.Keyring, Catalog: c.Events, CurrentVersion: c.Versions.OfApp(""), Retention: c.Retention.Deliveries,
		Dial: c.Dial, Clock: c.Clock, Logger: c.Logger, MeterProvider: c.MeterProvider, Notifications: p.told, Options: c.Webhooks,
	})
	return err
}

func (p *Platform) newAppData() (err error) {
	c := p.cfg
	if c.Records == nil {
		return nil
	}
	p.data, err = appdata.New(appdata.Config{Store: c.Store, Records: c.Records, Respond: idempotency.Respond, Clock: c.Clock, Logger: c.Logger})
	return err
}

// newSurface opens routes to apps: counted, and safe to repeat.
func (p *Platform) newSurface() (err error) {
	c := p.cfg
	p.keys, err = idempotency.New(idempotency.Config{
		Store: c.Store, Lifetime: c.Retention.IdempotencyKeys, Clock: c.Clock, Logger: c.Logger, MeterProvider: c.MeterProvider,
		VersionHeader: httpapi.VersionHeader(c.Service),
	})
	if err != nil {
		return err
	}
	if memory, ok := c.Limiter.(*ratelimit.Memory); ok {
		p.windows = longwindows.New(longwindows.Config{Store: c.Store, Limiter: memory, Clock: c.Clock, Logger: c.Logger})
	}
	sessionOrigins := make([]string, len(c.SessionOrigins))
	for i, origin := range c.SessionOrigins {
		sessionOrigins[i], _ = oauthserver.WebOrigin(origin) // as browsers spell it; check accepted it
	}
	apiOrigin, _ := oauthserver.WebOrigin(c.APIURL) // check accepted it
	scheme, _, _ := strings.Cut(apiOrigin, ":")
	p.guard, err = guard.New(guard.Config{
		Tokens: p.oauth, Sessions: c.Host, ForeignTokens: c.ForeignTokens, Users: c.Store, Permissions: c.Permissions, Versions: c.Versions, Scopes: c.Scopes,
		Fallback: c.APIRoutes, Origins: []string{c.APIURL, c.AppURL}, SessionOrigins: sessionOrigins,
		Idempotency: p.keys.Wrap, Analytics: p.calls,
		ErrorShape: c.ErrorShape, Service: c.Service, ResourceMetadata: p.oauth.ResourceMetadataURL,
		Limiter: c.Limiter, Limits: c.Limits, Proxies: c.Proxies, Clock: c.Clock, Logger: c.Logger,
		Scheme: scheme, MeterProvider: c.MeterProvider, TracerProvider: c.TracerProvider,
	})
	if err != nil {
		return err
	}
	if err := p.checkReachable(c.Routes); err != nil {
		return err
	}
	return p.guard.Handle(append(p.ownRoutes(), c.Routes...)...)
}

func (p *Platform) newConsole() (err error) {
	c := p.cfg
	if c.Developers == nil {
		return nil
	}
	versions := make([]string, len(c.Versions.All))
	for i, version := range c.Versions.All {
		versions[i] = version.Name
	}
	p.console, err = console.New(console.Config{
		UserName: c.userName(), BusinessName: c.BusinessName, Store: c.Store, Service: c.Service, Host: c.Developers, OAuth: p.oauth, Webhooks: p.hooks, Analytics: p.calls, AppData: p.data,
		Events: c.Events, EventRetention: c.Retention.Events, Versions: versions, Serves: c.Versions.Serves, AllowLoopback: c.Webhooks.AllowLoopback,
		Options: c.Console, Limiter: c.Limiter, Limits: c.Limits,
		Origins: []string{c.APIURL, c.AppURL}, Clock: c.Clock, Logger: c.Logger, ErrorShape: c.ErrorShape, Notifications: p.told,
	})
	if err != nil {
		return err
	}
	p.consolePages, err = pages.New(pages.Config{
		Console: p.console, SignIn: c.Host.SignIn, Service: c.Service, Prefix: consolePath, Origins: []string{c.APIURL, c.AppURL},
		Theme: c.Theme, ThemeFor: hostrequest.WithSession(c.Host.Session, c.ThemeFor), Reads: p.reads(), MoveClock: c.Console.MoveClock, RecordEvent: c.Console.RecordEvent,
		Clock: c.Clock, Logger: c.Logger,
	})
	return err
}

// reads are the routes that the quick start of the console can show: those of the host, then
// the Events API.
func (p *Platform) reads() []pages.Read {
	var reads []pages.Read
	for _, route := range append(slices.Clone(p.cfg.Routes), p.ownRoutes()...) {
		path, isGet := strings.CutPrefix(route.Pattern, "GET /")
		if isGet && route.Scope != guard.AnyScope && !strings.Contains(path, "{") {
			reads = append(reads, pages.Read{Path: "/" + path, Scope: route.Scope})
		}
	}
	return reads
}

// userName returns the source of names for the audit log of the console; nil if the host names no
// users.
func (c Config) userName() func(ctx context.Context, userID string) (string, error) {
	if c.Operators == nil {
		return nil
	}
	return func(ctx context.Context, userID string) (string, error) {
		user, _, err := c.Operators.User(ctx, userID)
		return user.Name, err
	}
}

// newOperator serves users who are not operators as an unknown path is served: by the guard
// on the API host, and by Config.AppRoutes on the app host.
func (p *Platform) newOperator() (err error) {
	c := p.cfg
	if c.Operators == nil {
		return nil
	}
	p.operator, err = operator.New(operator.Config{
		Store: c.Store, Service: c.Service, Host: c.Operators, OAuth: p.oauth, Console: p.console, Analytics: p.calls, BusinessName: c.BusinessName, Otherwise: p.guard,
		Limited: func(next http.Handler) http.Handler { return p.limited(c.Limits.DefaultAPI, next) },
		Origins: []string{c.APIURL, c.AppURL}, Clock: c.Clock, Logger: c.Logger, Notifications: p.told, ErrorShape: c.ErrorShape,
	})
	if err != nil {
		return err
	}
	p.operatorPages, err = operatorpages.New(operatorpages.Config{
		Operator: p.operator, Otherwise: p.orNotFound(c.AppRoutes), Service: c.Service, Prefix: operatorPath, Clock: c.Clock, Origins: []string{c.APIURL, c.AppURL},
		Theme: c.Theme, ThemeFor: hostrequest.WithSession(c.Host.Session, c.ThemeFor), Logger: c.Logger,
	})
	return err
}
