package sandbox

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/schemacheck"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// assemble asks the host for its part of the configuration, adds what the flags say and what
// development mode has, and builds the platform.
func (s *server) assemble() (err error) {
	if s.cfg, err = s.configure(); err != nil {
		return err
	}
	if s.options.agents {
		admitAgents(&s.cfg.OAuth)
	}
	if err := s.applyOptions(); err != nil {
		return err
	}
	if err := s.takePeople(); err != nil {
		return err
	}
	if s.isDev {
		s.relax()
	}
	s.errors = apierror.Writer{Logger: s.log, Service: s.cfg.Service, Shape: s.cfg.ErrorShape}
	s.patternsOfHost = hostPatterns(s.cfg.AppRoutes)
	if err := s.addPages(); err != nil {
		return err
	}
	if s.platform, err = partnerkit.New(s.cfg); err != nil {
		return err
	}
	s.spec = newDescription(s.platform, s.program.Description, s.apiURL, s.appURL)
	s.oauth = s.platform.OAuth()
	if host, ok := s.host.(interface{ Connect(*partnerkit.Platform) }); ok {
		host.Connect(s.platform)
	}
	return nil
}

// configure returns the configuration of the host, on what the sandbox runs on.
func (s *server) configure() (partnerkit.Config, error) {
	checker, err := newFunctionChecker()
	if err != nil {
		return partnerkit.Config{}, err
	}
	cfg := partnerkit.Config{
		Store: s.store, Keyring: s.ring, Limiter: s.limiter, Proxies: s.proxies, Clock: s.clock, Logger: s.log,
		MeterProvider: s.metrics.library, Notifier: events.LogNotifier(s.log),
		APIURL: s.apiURL, AppURL: s.appURL, Console: console.Options{FunctionChecker: checker},
	}
	if s.isDev {
		cfg.Console.MoveClock, cfg.Console.RecordEvent = s.moveClock, s.recordEvent
	}
	given := cfg
	if err := s.program.Configure(&cfg); err != nil {
		return cfg, err
	}
	switch {
	case cfg.Host == nil:
		return cfg, errors.New("sandbox: Configure has not set Config.Host")
	case cfg.Store != given.Store, cfg.Clock != given.Clock, cfg.APIURL != given.APIURL, cfg.AppURL != given.AppURL, cfg.Keyring != given.Keyring:
		return cfg, errors.New("sandbox: Configure must leave Config.Store, Clock, Keyring, APIURL and AppURL as they are")
	}
	if cfg.Service == "" {
		cfg.Service = "Service"
	}
	if len(cfg.Scopes.All()) == 0 {
		cfg.Scopes = identity.DefaultScopes()
	}
	return cfg, nil
}

// applyOptions puts what the flags say into the configuration.
func (s *server) applyOptions() error {
	o, cfg := s.options, &s.cfg
	if o.disableAfter > 0 {
		cfg.Webhooks.DisableAfter = time.Duration(o.disableAfter) * 24 * time.Hour
	}
	cfg.Webhooks.HeedReceivers = cfg.Webhooks.HeedReceivers || o.heedReceivers
	cfg.Webhooks.StandardHeaders = cfg.Webhooks.StandardHeaders || o.standard
	cfg.Webhooks.VerifyEndpoints = cfg.Webhooks.VerifyEndpoints || o.verifyWebhooks
	cfg.OAuth.CustomConnections = cfg.OAuth.CustomConnections || o.custom
	if o.refreshRetry != 0 {
		cfg.OAuth.RefreshRetry = o.refreshRetry
	}
	if o.maxConnections != 0 {
		cfg.OAuth.MaxConnections = o.maxConnections
	}
	if len(o.documents) == 0 && cfg.OAuth.Documents.Policy != nil {
		return nil
	}
	var err error
	if cfg.OAuth.Documents.Policy, err = oauthserver.TrustDocuments(o.documents...); err != nil {
		return usage(err)
	}
	return nil
}

// takePeople decides who keeps the people of the fixtures: the host, or the sandbox itself.
func (s *server) takePeople() error {
	s.host = s.cfg.Host
	if people, ok := s.host.(People); ok {
		s.people = people
		return nil
	}
	if !s.isDev {
		return usage(errors.New("a sandbox is for this machine: it needs both listeners and both public URLs on loopback, no trusted proxy, and -dev"))
	}
	s.own = newOwnPeople(s)
	s.people = s.own
	s.own.join(&s.cfg)
	return nil
}

// relax changes the configuration for development mode: partners' programs run on this
// machine, the clock can be moved, registration is open, and what the backend records must
// follow the schemas of the events.
func (s *server) relax() {
	cfg := &s.cfg
	cfg.Webhooks.AllowLoopback = true
	cfg.Webhooks.Fault = s.faults.ofDelivery
	s.told = &notifications{next: cfg.Notifier}
	cfg.Notifier = s.told
	cfg.Console.MoveClock, cfg.Console.RecordEvent = s.moveClock, s.recordEvent
	cfg.CompileSchema = schemacheck.Compile
	s.openRegistration()
}

// registeredApps is how many apps the first organization may have when an anonymous
// registration adds one. It leaves room for the apps of its developers.
const registeredApps = 50

// openRegistration opens registration, which needs a token outside development mode.
// Anonymous registrations are apps of the first organization, and of none once that has many.
// An app without an organization goes to that of the first user who connects it.
func (s *server) openRegistration() {
	cfg := &s.cfg.OAuth
	cfg.Registration = func(r *http.Request) (string, error) {
		organization, err := s.people.FirstOrganization(r.Context())
		if err != nil || organization == "" {
			return "", err
		}
		has, err := s.store.Apps(r.Context(), partner.AppQuery{OrganizationIDs: []string{organization}, Limit: registeredApps})
		if err != nil || len(has) == registeredApps {
			return "", err
		}
		return organization, nil
	}
	if developers := s.cfg.Developers; developers != nil {
		cfg.Unowned = func(ctx context.Context, _ partner.App, userID string) (string, error) {
			organizations, err := developers.Organizations(ctx, userID)
			if err != nil || len(organizations) == 0 {
				return "", err
			}
			return organizations[0].ID, nil
		}
	}
	cfg.Documents.AllowLoopback = true
}

// appOf returns the app with the client id, or an error in the standard shape.
func (s *server) appOf(ctx context.Context, clientID string) (partner.App, error) {
	if clientID == "" {
		return partner.App{}, apierror.Invalid("clientId is missing")
	}
	found, err := s.store.Apps(ctx, partner.AppQuery{ClientID: clientID})
	if err != nil {
		return partner.App{}, err
	}
	if len(found) == 0 {
		return partner.App{}, apierror.NotFound("client " + clientID)
	}
	return found[0], nil
}

// hostPatterns returns the patterns of the host's own pages, where it can tell them.
func hostPatterns(pages http.Handler) []string {
	if host, ok := pages.(interface{ Patterns() []string }); ok {
		return host.Patterns()
	}
	return nil
}
