package partnerkit

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/muxes"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/ratelimit"
)

const (
	consolePath  = "/developer" // where the console lies, on both hosts
	operatorPath = "/operator"  // where the operator's side lies, on both hosts
	iconPath     = "/app-icons" // where the icons of live listings lie, on the app host
)

// isBelow reports whether a path is another one, or below it.
func isBelow(path, other string) bool {
	return path == other || strings.HasPrefix(path, other+"/")
}

// pathsOf returns a function that reports whether a path is one of the patterns, under
// any method. A wildcard stands for everything below it.
func pathsOf(patterns []string) func(path string) bool {
	exact := make(map[string]bool, len(patterns))
	var prefixes []string
	for _, pattern := range patterns {
		_, path, _ := strings.Cut(pattern, " ")
		path = strings.TrimSuffix(path, "{$}")
		if before, _, ok := strings.Cut(path, "{"); ok {
			prefixes = append(prefixes, before)
			continue
		}
		exact[path] = true
	}
	return func(path string) bool {
		return exact[path] || slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
	}
}

// checkReachable refuses routes on paths that the API host keeps for its features.
func (p *Platform) checkReachable(routes []guard.Route) error {
	var wrong []error
	for _, route := range routes {
		if owner := p.ownerOf(route.Pattern); owner != "" {
			wrong = append(wrong, fmt.Errorf("Config.Routes: %q cannot be served: its path belongs to %s; choose another path", route.Pattern, owner))
		}
	}
	return errors.Join(wrong...)
}

// ownerOf names the feature to which all paths of a pattern belong; empty if there is none.
func (p *Platform) ownerOf(pattern string) string {
	_, path, _ := strings.Cut(pattern, "/") // behind the method and the host
	first, below, _ := strings.Cut(path, "/")
	if plain, err := url.PathUnescape(first); err == nil {
		first = plain // the mux reads it so
	}
	switch "/" + first {
	case "/oauth", "/.well-known":
		if below != "" {
			return "the OAuth server, which has everything below /oauth/ and /.well-known/"
		}
	case consolePath:
		if p.cfg.Developers != nil {
			return "the developer console, which has everything below " + consolePath + " because Config.Developers is set"
		}
	case operatorPath:
		if p.cfg.Operators != nil {
			return "the operator's side, which has everything below " + operatorPath + " because Config.Operators is set"
		}
	}
	return ""
}

// newAPI routes the API host. The surface stands in front of everything that is not
// a feature's own, and counts it: unknown paths below /oauth/ and /.well-known/ too. The
// console is for people and their console tokens: to apps it is one more path that they
// may not call.
func (p *Platform) newAPI() http.Handler {
	oauth, isOAuth := p.oauth.APIHandler(), pathsOf(p.oauth.APIPatterns())
	var developer http.Handler
	if p.console != nil {
		developer = p.limited(p.cfg.Limits.DefaultAPI, p.console)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case isOAuth(path):
			oauth.ServeHTTP(w, r)
		case developer != nil && isBelow(path, consolePath) && (!guard.HasToken(r) || console.HasToken(r)):
			developer.ServeHTTP(w, r)
		case p.operator != nil && isBelow(path, operatorPath) && !guard.HasToken(r):
			p.operator.ServeHTTP(w, r)
		default:
			p.guard.ServeHTTP(w, r)
		}
	})
}

// APIPatterns returns the methods and paths that [Platform.API] serves, in the language
// of http.ServeMux: what an API description has to describe. Config.APIRoutes are not
// among them.
func (p *Platform) APIPatterns() []string {
	patterns := append(p.oauth.APIPatterns(), p.guard.Patterns()...)
	if p.console != nil {
		patterns = append(patterns, p.console.Patterns()...)
	}
	if p.operator != nil {
		patterns = append(patterns, p.operator.Patterns()...)
	}
	return patterns
}

// AppPatterns returns the same for [Platform.App], without Config.AppRoutes, the pages of the
// console and those of the operator's side.
func (p *Platform) AppPatterns() []string {
	patterns := p.oauth.AppPatterns()
	if p.listings != nil {
		patterns = append(patterns, iconPattern)
	}
	return patterns
}

const iconPattern = "GET " + iconPath + "/{appId}/{assetId}"

// ownRoutes returns the library's own routes for apps. App data asks for the scope of the
// record by itself.
func (p *Platform) ownRoutes() []guard.Route {
	var routes []guard.Route
	if _, ok := p.cfg.Scopes.Lookup(EventsScope); ok {
		routes = append(routes,
			guard.Route{Pattern: "GET /events", Scope: EventsScope, Installations: true, AppsOnly: codes.EventLogForConnectedApps, Handler: p.events.List},
			guard.Route{Pattern: "GET /events/{id}", Scope: EventsScope, Installations: true, AppsOnly: codes.EventLogForConnectedApps, Handler: p.events.Get})
	}
	if p.data != nil {
		routes = append(routes,
			guard.Route{Pattern: "GET /app-data", Scope: guard.AnyScope, Installations: true, AppsOnly: codes.AppDataForConnectedApps, Handler: p.data.ListValues},
			guard.Route{Pattern: "PUT /app-data", Scope: guard.AnyScope, Installations: true, AppsOnly: codes.AppDataForConnectedApps, Handler: p.data.PutValues},
			guard.Route{Pattern: "DELETE /app-data/{id}", Scope: guard.AnyScope, Installations: true, AppsOnly: codes.AppDataForConnectedApps, Handler: p.data.DeleteValue})
	}
	return routes
}

// newApp routes the app host.
func (p *Platform) newApp() http.Handler {
	oauth, isOAuth := p.oauth.AppHandler(), pathsOf(p.oauth.AppPatterns())
	rest := p.limited(p.cfg.Limits.DefaultApp, p.orNotFound(p.cfg.AppRoutes))
	var developer, staff, icons http.Handler
	if p.listings != nil {
		mux := http.NewServeMux()
		mux.Handle(iconPattern, p.errors.Standard(p.listings.ServeIcon))
		icons = p.limited(p.cfg.Limits.DefaultApp, muxes.WithErrors(mux, p.errors.WriteStandard))
	}
	if p.consolePages != nil {
		developer = p.limited(p.cfg.Limits.DefaultApp, p.consolePages)
	}
	if p.operatorPages != nil {
		staff = p.limited(p.cfg.Limits.DefaultApp, p.operatorPages)
	}
	routes := p.errors.ValidPath(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case isOAuth(path), strings.HasPrefix(path, "/device/"):
			oauth.ServeHTTP(w, r)
		case icons != nil && isBelow(path, iconPath):
			icons.ServeHTTP(w, r)
		case developer != nil && isBelow(path, consolePath):
			developer.ServeHTTP(w, r)
		case staff != nil && isBelow(path, operatorPath):
			staff.ServeHTTP(w, r)
		default:
			rest.ServeHTTP(w, r)
		}
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !text.IsPath(r.URL.Path) { // the response is not a page, and must not be framed either
			w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
			w.Header().Set("X-Frame-Options", "DENY")
		}
		routes.ServeHTTP(w, r)
	})
}

func (p *Platform) orNotFound(h http.Handler) http.Handler {
	if h != nil {
		return h
	}
	return p.errors.Standard(func(http.ResponseWriter, *http.Request) error { return apierror.NotFound("") })
}

// limited counts a request toward the default limit of its caller's address, and
// refuses it when that is used up.
func (p *Platform) limited(counter func(netip.Addr) ratelimit.Counter, next http.Handler) http.Handler {
	return p.errors.Standard(func(w http.ResponseWriter, r *http.Request) error {
		result, err := p.cfg.Limiter.Check(r.Context(), p.cfg.Clock.Now(), ratelimit.Request{
			Counters: ratelimit.Counters{counter(p.cfg.Proxies.ClientIP(r))},
		})
		if err := apierror.Limited(result.Allowed, result.Wait, err); err != nil {
			return err
		}
		next.ServeHTTP(w, r)
		return nil
	})
}
