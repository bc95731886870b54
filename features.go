package partnerkit

import (
	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/webhooks"
)

func (p *Platform) newOAuth() (err error) {
	c := p.cfg
	oauth := c.OAuth
	oauth.Store, oauth.Host, oauth.Keyring, oauth.Pages = c.Store, c.Host, c.Keyring, c.Pages
	oauth.APIURL, oauth.AppURL, oauth.Service, oauth.Scopes = c.APIURL, c.AppURL, c.Service, c.Scopes
	oauth.Limiter, oauth.Proxies, oauth.Clock, oauth.Logger, oauth.MeterProvider = c.Limiter, c.Proxies, c.Clock, c.Logger, c.MeterProvider
	if oauth.Documents.Dial == nil {
		oauth.Documents.Dial = c.Dial
	}
	p.oauth, err = oauthserver.New(oauth)
	return err
}

// newEvents makes the log and the webhooks that tell of it.
func (p *Platform) newEvents() (err error) {
	c := p.cfg
	p.events, err = events.New(events.Config{Store: c.Store, Catalog: c.Events, Clock: c.Clock, Logger: c.Logger})
	if err != nil {
		return err
	}
	hooks := c.Webhooks
	hooks.Store, hooks.Keyring, hooks.Catalog, hooks.CurrentVersion = c.Store, c.Keyring, c.Events, c.Versions.OfApp("")
	hooks.Clock, hooks.Logger, hooks.MeterProvider = c.Clock, c.Logger, c.MeterProvider
	if hooks.Dial == nil {
		hooks.Dial = c.Dial
	}
	p.hooks, err = webhooks.New(hooks)
	return err
}

func (p *Platform) newAppData() (err error) {
	c := p.cfg
	if c.Records == nil {
		return nil
	}
	p.data, err = appdata.New(appdata.Config{Store: c.Store, Records: c.Records, Answer: guard.Answer, Clock: c.Clock, Logger: c.Logger})
	return err
}

// newSurface opens routes to apps: counted, and safe to repeat.
func (p *Platform) newSurface() (err error) {
	c := p.cfg
	p.keys, err = guard.NewIdempotency(guard.IdempotencyConfig{
		Store: c.Store, Clock: c.Clock, Logger: c.Logger, MeterProvider: c.MeterProvider,
		VersionHeader: oauthserver.VersionHeader(c.Service),
	})
	if err != nil {
		return err
	}
	p.calls, err = analytics.New(analytics.Config{Store: c.Store, Clock: c.Clock, Logger: c.Logger, MeterProvider: c.MeterProvider})
	if err != nil {
		return err
	}
	p.guard, err = guard.New(guard.Config{
		Tokens: p.oauth, Sessions: c.Host, Users: c.Store, Permissions: c.Permissions, Versions: c.Versions, Scopes: c.Scopes,
		Fallback: c.APIRoutes, Origins: []string{c.APIURL, c.AppURL},
		Idempotency: p.keys.Wrap, Analytics: p.calls,
		Service: c.Service, ResourceMetadata: c.APIURL + "/.well-known/oauth-protected-resource",
		Limiter: c.Limiter, Proxies: c.Proxies, Clock: c.Clock, Logger: c.Logger,
		MeterProvider: c.MeterProvider, TracerProvider: c.TracerProvider,
	})
	if err != nil {
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
	p.desk, err = console.New(console.Config{
		Store: c.Store, Host: c.Developers, OAuth: p.oauth, Webhooks: p.hooks, Analytics: p.calls, AppData: p.data,
		Events: c.Events, Versions: versions, Serves: c.Versions.Serves, AllowLoopback: c.Webhooks.AllowLoopback,
		MaxFunctions: c.MaxFunctions, FunctionChecker: c.FunctionChecker, Origins: []string{c.APIURL, c.AppURL}, Clock: c.Clock, Logger: c.Logger,
	})
	if err != nil {
		return err
	}
	shown := c.ConsolePages
	shown.Console, shown.SignIn, shown.Service, shown.Prefix = p.desk, c.Host.SignIn, c.Service, consolePath
	shown.Origins, shown.Clock, shown.Logger = []string{c.APIURL, c.AppURL}, c.Clock, c.Logger
	p.office, err = pages.New(shown)
	return err
}
