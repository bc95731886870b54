package books

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/clock"
	consolepages "github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// SiteConfig is the configuration of a [Site]. Fields without a default are required.
type SiteConfig struct {
	Books          *Books
	APIURL, AppURL string // the origins of the two hosts
	Errors         apierror.Writer
	Limiter        ratelimit.Limiter // of wrong passwords
	Proxies        ratelimit.Proxies // the zero value trusts none
	Clock          clock.Clock
	Logger         *slog.Logger

	CookieDomain    string              // of the session cookie; empty: the app host alone
	SessionLifetime time.Duration       // zero: 14 days
	Links           []consolepages.Link // more links for the header, to pages added by [Site.Handle]
}

// Site is the pages of the books on the app host: sign-in, businesses, connected apps and
// embedded apps. It is safe for concurrent use once [Site.Connect] and [Site.Handle] were
// called.
type Site struct {
	cfg      SiteConfig
	books    *Books
	sessions *sessions
	pages    *pages
	hashing  chan struct{} // bounds the passwords that are checked at a time
	mux      http.ServeMux
	patterns []string
	handler  http.Handler // mux, with protection against forged requests
	platform *partnerkit.Platform
}

// NewSite returns an error when one of the URLs is not an origin. The site needs a
// platform before it serves: see [Site.Connect].
func NewSite(cfg SiteConfig) (*Site, error) {
	s := &Site{
		cfg: cfg, books: cfg.Books, sessions: newSessions(cfg),
		hashing: make(chan struct{}, min(maxHashing, 2*runtime.GOMAXPROCS(0))),
	}
	csrf := http.NewCrossOriginProtection()
	for _, origin := range []string{cfg.APIURL, cfg.AppURL} {
		if err := csrf.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("%q is not an origin like https://api.example.com: %w", origin, err)
		}
	}
	var err error
	if s.pages, err = newPages(cfg.Errors, s.Links()); err != nil {
		return nil, err
	}
	s.addPages()
	routes := s.pages.mux(&s.mux)
	s.handler = s.pages.handle(func(w http.ResponseWriter, r *http.Request) error {
		if err := csrf.Check(r); err != nil {
			return apierror.Forbidden("This request came from another site")
		}
		routes.ServeHTTP(w, r)
		return nil
	})
	return s, nil
}

// Connect gives the site the platform, which is made after it: the platform serves the
// site's pages, and the site shows what the platform knows about connected apps.
func (s *Site) Connect(p *partnerkit.Platform) { s.platform = p }

// ServeHTTP serves the pages.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Host returns what partnerkit asks about people and businesses.
func (s *Site) Host() Host { return Host{books: s.books, sessions: s.sessions} }

// Patterns returns the methods and paths of the pages.
func (s *Site) Patterns() []string { return slices.Clone(s.patterns) }

// Links returns the links to the pages, for headers.
func (s *Site) Links() []consolepages.Link {
	return append([]consolepages.Link{
		{Text: "Connected apps", Href: settingsPath},
		{Text: "Businesses", Href: "/businesses"},
	}, s.cfg.Links...)
}

// Handle adds a page. Errors of h are shown as a page.
func (s *Site) Handle(pattern string, h apierror.Handler) { s.handle(pattern, s.pages.handle(h)) }

func (s *Site) handle(pattern string, h http.Handler) {
	s.mux.Handle(pattern, h)
	s.patterns = append(s.patterns, pattern)
}

func (s *Site) addPages() {
	s.Handle("GET /login", s.showLogin)
	s.Handle("POST /login", s.signIn)
	s.Handle("POST /logout", s.signOut)
	s.handle("GET /businesses", s.personal(s.showBusinesses))
	s.handle("POST /businesses", s.personal(s.chooseBusiness))
	s.handle("GET /settings/apps", s.personal(s.showApps))
	s.handle("POST /settings/apps/revoke-access", s.disconnect(audit.AccessRevoked, func(ctx context.Context, appID, businessID, userID string) error {
		return s.platform.OAuth().RevokeAccess(ctx, appID, businessID, userID)
	}))
	s.handle("POST /settings/apps/uninstall", s.disconnect(audit.Uninstalled, func(ctx context.Context, appID, businessID, userID string) error {
		return s.platform.OAuth().Uninstall(ctx, appID, businessID, userID)
	}))
	s.handle("GET /embedded/{clientId}", s.personal(s.showEmbedded))
	s.handle("POST /embedded/{clientId}/session-token", s.cfg.Errors.Standard(s.serveSessionToken))
	s.handle("GET /assets/", http.StripPrefix("/assets", s.pages.mux(look.Assets())))
	s.handle("GET /assets/embedded.js", http.HandlerFunc(serveEmbeddedScript))
	s.handle("GET /{$}", http.RedirectHandler(settingsPath, http.StatusSeeOther))
}

// Frame puts a page into the frame of the site, for pages added by [Site.Handle].
func (s *Site) Frame(v View) look.Page { return s.pages.frame(v) }

// PersonName returns the name of the person who is signed in; empty when nobody is. It
// returns an error for a person whose account is suspended.
func (s *Site) PersonName(r *http.Request) (string, error) {
	p, ok, err := s.person(r)
	if err != nil || !ok {
		return "", err
	}
	return p.user.Name, nil
}

// StartSession signs a user in without a password and returns the cookie.
func (s *Site) StartSession(r *http.Request, userID, businessID string) (*http.Cookie, error) {
	return s.sessions.start(r, userID, businessID)
}

// App returns the app with the client id, or an error in the standard shape.
func (s *Site) App(ctx context.Context, clientID string) (oauthserver.App, error) {
	if clientID == "" {
		return oauthserver.App{}, apierror.Invalid("clientId is missing")
	}
	app, err := s.books.store.AppByClientID(ctx, clientID)
	if errors.Is(err, oauthserver.ErrNotFound) {
		return app, apierror.NotFound("client " + clientID)
	}
	return app, err
}
