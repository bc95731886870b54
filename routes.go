package partnerkit

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// consolePath is where the console lies, on both hosts.
const consolePath = "/developer"

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

// newAPI routes the API host. The surface stands in front of everything that is not
// a feature's own, and counts it: unknown paths below /oauth/ and /.well-known/ too. The
// console is for people: to apps it is one more path that they may not call.
func (p *Platform) newAPI() http.Handler {
	oauth, isOAuth := p.oauth.APIHandler(), pathsOf(p.oauth.APIPatterns())
	var desk http.Handler
	if p.desk != nil {
		desk = p.limited(ratelimit.DefaultAPI, p.desk)
	}
	return p.errors.ValidPath(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case isOAuth(path):
			oauth.ServeHTTP(w, r)
		case desk != nil && isBelow(path, consolePath) && !guard.HasToken(r):
			desk.ServeHTTP(w, r)
		default:
			p.guard.ServeHTTP(w, r)
		}
	}))
}

// APIPatterns are the methods and paths that [Platform.API] serves, in the language
// of http.ServeMux: what an API description has to describe. Config.APIRoutes are not
// among them.
func (p *Platform) APIPatterns() []string {
	patterns := append(p.oauth.APIPatterns(), p.guard.Patterns()...)
	if p.desk != nil {
		patterns = append(patterns, p.desk.Patterns()...)
	}
	return patterns
}

// AppPatterns are the same for [Platform.App], without Config.AppRoutes and the pages
// of the console.
func (p *Platform) AppPatterns() []string { return p.oauth.AppPatterns() }

// ownRoutes are what apps may call of ours. App data asks for the scope of the
// record by itself.
func (p *Platform) ownRoutes() []guard.Route {
	var routes []guard.Route
	if _, ok := p.cfg.Scopes.Lookup(EventsScope); ok {
		routes = append(routes,
			guard.Route{Pattern: "GET /events", Scope: EventsScope, AppsOnly: apierror.EventLogForConnectedApps, Handler: p.events.List},
			guard.Route{Pattern: "GET /events/{id}", Scope: EventsScope, AppsOnly: apierror.EventLogForConnectedApps, Handler: p.events.Get})
	}
	if p.data != nil {
		routes = append(routes,
			guard.Route{Pattern: "GET /app-data", Scope: guard.AnyScope, AppsOnly: apierror.AppDataForConnectedApps, Handler: p.data.ListValues},
			guard.Route{Pattern: "PUT /app-data", Scope: guard.AnyScope, AppsOnly: apierror.AppDataForConnectedApps, Handler: p.data.PutValues},
			guard.Route{Pattern: "DELETE /app-data/{id}", Scope: guard.AnyScope, AppsOnly: apierror.AppDataForConnectedApps, Handler: p.data.DeleteValue})
	}
	return routes
}

// newApp routes the app host.
func (p *Platform) newApp() http.Handler {
	oauth := p.oauth.AppHandler()
	rest := p.limited(ratelimit.DefaultApp, p.orNotFound(p.cfg.AppRoutes))
	var office http.Handler
	if p.office != nil {
		office = p.limited(ratelimit.DefaultApp, p.office)
	}
	routes := p.errors.ValidPath(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/oauth/authorize", path == "/device", strings.HasPrefix(path, "/device/"):
			oauth.ServeHTTP(w, r)
		case office != nil && isBelow(path, consolePath):
			office.ServeHTTP(w, r)
		default:
			rest.ServeHTTP(w, r)
		}
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !apierror.IsValidPath(r.URL.Path) { // the answer is no page, and framed by nobody either
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
