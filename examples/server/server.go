package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	oauthpages "github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

// service is what the accounting service calls itself.
const service = "Service"

// server is the accounting service: books of its own, and the platform.
type server struct {
	parts
	errors   apierror.Writer
	sessions *sessions
	host     Host
	pages    *pages
	csrf     *http.CrossOriginProtection
	hashing  chan struct{} // bounds the passwords that are checked at a time
	platform *partnerkit.Platform
	oauth    *oauthserver.Server
	spec     *description
	routes   routes
}

// parts are what a server is made of.
type parts struct {
	dev            bool
	apiURL, appURL string
	metricsURL     string // empty: not served
	cookieDomain   string
	log            *slog.Logger
	metrics        *metrics
	ring           *keyring.Keyring
	store          *sqlstore.Store
	books          *Books
	clock          *timekeeper
	limiter        ratelimit.Limiter
	proxies        ratelimit.Proxies
	functions      console.FunctionChecker
}

func newServer(ctx context.Context, p parts) (*server, error) {
	s := &server{
		parts:   p,
		errors:  apierror.Writer{Logger: p.log, Service: service},
		csrf:    http.NewCrossOriginProtection(),
		hashing: make(chan struct{}, min(maxHashing, 2*runtime.GOMAXPROCS(0))),
		spec:    newDescription(p.apiURL, p.appURL),
	}
	for _, origin := range []string{p.apiURL, p.appURL} {
		if err := s.csrf.AddTrustedOrigin(origin); err != nil {
			return nil, usage(fmt.Errorf("%q is not an origin like https://api.example.com: %w", origin, err))
		}
	}
	if err := checkCookieDomain(p.cookieDomain, p.apiURL, p.appURL); err != nil {
		return nil, err
	}
	s.sessions = newSessions(p.books, p.clock, sessionCookie(p.appURL, p.cookieDomain), p.dev)
	s.host = Host{books: p.books, sessions: s.sessions}
	var err error
	if s.pages, err = newPages(s.errors); err != nil {
		return nil, err
	}
	oauth := oauthserver.Config{}
	if p.dev {
		developmentPolicies(p.books, &oauth)
	}
	s.platform, err = partnerkit.New(ctx, partnerkit.Config{
		Store: p.store, Host: s.host, Developers: s.host, FunctionChecker: p.functions, Records: p.books.Ledger(), Keyring: p.ring, Pages: oauthpages.New(),
		APIURL: p.apiURL, AppURL: p.appURL, Service: service,
		Routes: p.books.Routes(), Permissions: p.books, Versions: apiVersions,
		AppRoutes: s.appRoutes(),
		Limiter:   p.limiter, Proxies: p.proxies, Clock: p.clock, Logger: p.log, MeterProvider: p.metrics.library,
		OAuth: oauth, Webhooks: webhooks.Config{AllowLoopback: p.dev},
		ConsolePages: s.consolePages(),
	})
	if err != nil {
		return nil, err
	}
	s.oauth = s.platform.OAuth()
	return s, nil
}

// api serves the API host. Health, the API description and /dev stand in front of the
// platform and answer everybody alike; no limit refuses health and /dev.
func (s *server) api() http.Handler {
	r := &s.routes.api
	r.Handle("GET /healthz", s.errors.Standard(serveHealth))
	r.Handle("GET /readyz", s.errors.Standard(s.serveReady))
	r.Handle("GET /openapi.yaml", oauthserver.CORS(service, s.limited(s.spec.serve)))
	if s.dev {
		r.mux.Handle("/dev/", s.development())
	}
	return s.metrics.count("api", secured(s.apiURL, s.errors.ValidPath(s.inFront(r, s.platform.API()))))
}

// app serves the app host.
func (s *server) app() http.Handler {
	r := &s.routes.app
	r.Handle("GET /healthz", s.errors.Standard(serveHealth))
	r.Handle("GET /readyz", s.errors.Standard(s.serveReady))
	return s.metrics.count("app", secured(s.appURL, s.inFront(r, s.platform.App())))
}

// secured has browsers come back over https alone to a host that has it: a form that
// was posted over http would pass for one of ours.
func secured(publicURL string, next http.Handler) http.Handler {
	if !strings.HasPrefix(publicURL, "https://") {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		next.ServeHTTP(w, r)
	})
}

// inFront serves the paths of a router, under any method, before next. It is not a
// pattern "/" in the mux, which would redirect paths that are not clean before next has
// seen them.
func (s *server) inFront(front *router, next http.Handler) http.Handler {
	own := s.errors.StandardMux(&front.mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := front.mux.Handler(r); pattern != "" || front.hasPath(r.URL.Path) {
			own.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// monitoring serves the listener of -metrics.
func (s *server) monitoring() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.handler())
	return s.errors.StandardMux(mux)
}

// appRoutes are the pages of the books.
func (s *server) appRoutes() http.Handler {
	mux := &s.routes.pages
	mux.Handle("GET /login", s.pages.handle(s.showLogin))
	mux.Handle("POST /login", s.pages.handle(s.signIn))
	mux.Handle("POST /logout", s.pages.handle(s.signOut))
	mux.Handle("GET /businesses", s.personal(s.showBusinesses))
	mux.Handle("POST /businesses", s.personal(s.chooseBusiness))
	mux.Handle("GET /settings/apps", s.personal(s.showApps))
	mux.Handle("POST /settings/apps/revoke-access", s.disconnect(audit.AccessRevoked, func(ctx context.Context, appID, businessID, userID string) error {
		return s.oauth.RevokeAccess(ctx, appID, businessID, userID)
	}))
	mux.Handle("POST /settings/apps/uninstall", s.disconnect(audit.Uninstalled, func(ctx context.Context, appID, businessID, userID string) error {
		return s.oauth.Uninstall(ctx, appID, businessID, userID)
	}))
	mux.Handle("GET /embedded/{clientId}", s.personal(s.showEmbedded))
	mux.Handle("POST /embedded/{clientId}/session-token", s.errors.Standard(s.serveSessionToken))
	mux.Handle("GET /openapi", s.pages.handle(s.showDescription))
	mux.Handle("GET /assets/", http.StripPrefix("/assets", s.pages.mux(look.Assets())))
	mux.Handle("GET /assets/embedded.js", http.HandlerFunc(serveEmbeddedScript))
	mux.Handle("GET /{$}", http.RedirectHandler("/settings/apps", http.StatusSeeOther))
	routes := s.pages.mux(&mux.mux)
	return s.pages.handle(func(w http.ResponseWriter, r *http.Request) error {
		if err := s.csrf.Check(r); err != nil {
			return apierror.Forbidden("This request came from another site")
		}
		routes.ServeHTTP(w, r)
		return nil
	})
}
