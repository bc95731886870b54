package sandbox

import (
	"log/slog"
	"net/http"
	"path"
	"strings"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/httpapi"
	"github.com/partnerkit/partnerkit/internal/muxes"
	pagesite "github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// server is a host and the platform on two hosts.
type server struct {
	program        Program
	options        options
	isDev          bool
	apiURL, appURL string
	metricsURL     string // empty: not served
	log            *slog.Logger
	metrics        *metrics
	ring           *keyring.Keyring
	store          *sqlstore.Store
	clock          *timekeeper
	limiter        ratelimit.Limiter
	proxies        ratelimit.Proxies

	cfg      partnerkit.Config
	host     oauthserver.Host // as it was configured
	people   People
	own      *ownPeople // nil if the host keeps the people
	errors   apierror.Writer
	pages    *pagesite.Site
	platform *partnerkit.Platform
	oauth    *oauthserver.Server
	spec     *description
	told     *notifications // in development mode
	faults   faults         // likewise
	viewer   viewer         // likewise
	routes   routes

	patternsOfHost []string // of its own pages
}

// api serves the API host. Health, the API description and /dev come before the
// platform and respond to all clients alike; health and /dev have no rate limit.
func (s *server) api() http.Handler {
	r := &s.routes.api
	r.Handle("GET /healthz", s.errors.Standard(serveHealth))
	r.Handle("GET /readyz", s.errors.Standard(s.serveReady))
	r.Handle("GET /openapi.yaml", httpapi.CORS(s.cfg.Service, s.limited(s.spec.serve)))
	if s.isDev {
		r.mux.Handle("/dev/", s.errors.ValidPath(s.development()))
	}
	return apierror.WithRequestIDs(nil, s.metrics.count("api", secured(s.apiURL, s.inFront(r, s.faulty(s.platform.API())))))
}

// app serves the app host.
func (s *server) app() http.Handler {
	r := &s.routes.app
	r.Handle("GET /healthz", s.errors.Standard(serveHealth))
	r.Handle("GET /readyz", s.errors.Standard(s.serveReady))
	return apierror.WithRequestIDs(nil, s.metrics.count("app", secured(s.appURL, s.inFront(r, s.faulty(s.platform.App())))))
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

// inFront serves the paths of a router, under any method, before next. All other paths go to
// next as they are. A mux would redirect a path such as //healthz.
func (s *server) inFront(front *router, next http.Handler) http.Handler {
	own := muxes.WithErrors(&front.mux, s.errors.WriteStandard)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := front.mux.Handler(r); pattern != "" && isClean(r.URL.EscapedPath()) || front.hasPath(r.URL.Path) {
			own.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isClean reports whether a mux takes an escaped path as it is.
func isClean(escaped string) bool {
	clean := path.Clean(escaped)
	return escaped == clean || escaped == clean+"/"
}

// monitoring serves the listener of -metrics.
func (s *server) monitoring() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.handler())
	return muxes.WithErrors(mux, s.errors.WriteStandard)
}
