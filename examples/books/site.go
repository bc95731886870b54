package books

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/theme"
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

	CookieDomain    string        // of the session cookie; empty: the app host alone
	SessionLifetime time.Duration // zero: 14 days
	Links           []theme.Link  // more links for the header, to pages added by [Site.Handle]
}

// Site is the pages of the books on the app host: sign-in, businesses and embedded apps. It is safe for concurrent use once [Site.Connect] and [Site.Handle] were
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
	if s.pages, err = newPages(cfg.Errors, s.links()); err != nil {
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

// Theme returns the header of the platform's pages: the links of the site.
func (s *Site) Theme() theme.Theme {
	return theme.Theme{Links: s.links(), SignOut: "/logout", SwitchAccount: "/login", Switch: switchPath}
}

// ThemeFor returns the header of a page of the platform: that of [Site.Theme], and for
// operators a link to their pages.
func (s *Site) ThemeFor(r *http.Request) theme.Theme {
	own := s.Theme()
	if person, err := s.Person(r); err == nil && person.IsOperator {
		own.Links = append(own.Links, operatorLink)
	}
	return own
}

// operatorLink leads to the operator's pages of the platform.
var operatorLink = theme.Link{Text: "Operator", Href: "/operator"}

// ConnectedApps returns what the platform's page of connected apps links to.
func (s *Site) ConnectedApps() oauthserver.ConnectedAppsConfig {
	return oauthserver.ConnectedAppsConfig{OpenPath: embeddedPath}
}

// BusinessPath is the page on which a person chooses the business to sign into.
const BusinessPath = "/businesses"

// switchPath is where the form goes with which a person chooses the light or the dark scheme.
const switchPath = "/theme"

// settingsPath is the platform's page of connected apps.
const settingsPath = "/settings/apps"

// links lead to the pages of the site and of the platform.
func (s *Site) links() []theme.Link {
	links := append([]theme.Link{
		{Text: "Connected apps", Href: settingsPath},
		{Text: "Businesses", Href: BusinessPath},
	}, s.cfg.Links...)
	return append(links, theme.Link{Text: "Developers", Href: "/developer"})
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
	s.Handle("POST "+switchPath, theme.ServeSwitch)
	s.handle("GET "+BusinessPath, s.personal(s.showBusinesses))
	s.handle("POST "+BusinessPath, s.personal(s.chooseBusiness))
	s.handle("GET /embedded/{clientId}", s.personal(s.showEmbedded))
	s.handle("POST /embedded/{clientId}/session-token", s.cfg.Errors.Standard(s.serveSessionToken))
	s.handle("GET /assets/", http.StripPrefix("/assets", s.pages.mux(look.Assets())))
	s.handle("GET /assets/embedded.js", http.HandlerFunc(serveEmbeddedScript))
	s.handle("GET /{$}", http.RedirectHandler(settingsPath, http.StatusSeeOther))
}

// Frame puts a page into the frame of the site, for pages added by [Site.Handle].
func (s *Site) Frame(v View) look.Page { return s.pages.frame(v) }

// Person returns the user who is signed in; the zero User if there is none. It returns an
// error for a user whose account is suspended.
func (s *Site) Person(r *http.Request) (User, error) {
	p, ok, err := s.person(r)
	if err != nil || !ok {
		return User{}, err
	}
	return p.user, nil
}

// StartSession signs a user in without a password and returns the cookie.
func (s *Site) StartSession(r *http.Request, userID, businessID string) (*http.Cookie, error) {
	return s.sessions.start(r, userID, businessID)
}

// App returns the app with the client id, or an error in the standard shape.
func (s *Site) App(ctx context.Context, clientID string) (partner.App, error) {
	if clientID == "" {
		return partner.App{}, apierror.Invalid("clientId is missing")
	}
	found, err := s.books.store.Apps(ctx, partner.AppQuery{ClientID: clientID})
	if err != nil {
		return partner.App{}, err
	}
	if len(found) == 0 {
		return partner.App{}, apierror.NotFound("client " + clientID)
	}
	return found[0], nil
}
