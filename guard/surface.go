package guard

import (
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
)

// ServeHTTP implements http.Handler. Preflights of browsers are answered without
// looking at credentials, which they cannot have.
func (s *Surface) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// route passes a request to the gates of its route. A request that the mux would reject or
// redirect itself is undeclared.
func (s *Surface) route(w http.ResponseWriter, r *http.Request) {
	if s.routeOf(r) == nil {
		s.undeclared.ServeHTTP(w, r)
		return
	}
	s.mux.ServeHTTP(w, r) // which sets the values of the path
}

// routeOf returns the route of a request; nil if its method and path are not declared.
func (s *Surface) routeOf(r *http.Request) *route {
	to, _ := s.mux.Handler(r)
	declared, _ := to.(gates)
	return declared.route
}

// call is one request, and what is known about it so far.
type call struct {
	recorder
	started   time.Time // real time, to see how long it took
	route     *route    // nil when the method and path are not declared
	principal identity.Principal
	dead      identity.Principal // of a token that is no longer valid; for the request log
	code      apierror.Code      // of the error; may be empty
	session   identity.Session
	hasCookie bool      // the session is that of a cookie, which browsers send by themselves
	refusedBy limitName // empty when no limit did
}

func (c *call) isOAuth() bool   { return c.principal.SignIn == identity.SignInOAuth }
func (c *call) isSession() bool { return c.principal.SignIn == identity.SignInSession }

// gates is the handler of a route, or of everything undeclared if the route is nil: all
// checks, and then the handler that was declared.
type gates struct {
	surface *Surface
	route   *route
}

// ServeHTTP implements http.Handler. Errors and panics get their shape, and the outcome is
// counted.
func (g gates) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := g.surface
	c := &call{recorder: recorder{ResponseWriter: w, now: s.cfg.Clock.Now(), id: apierror.RequestID(r.Context()), isHead: r.Method == http.MethodHead}, started: time.Now(), route: g.route}
	ctx, span := s.telemetry.begin(r, c)
	finished := false
	defer func() { s.finish(ctx, r, c, span, finished) }()
	if span != nil {
		r = r.WithContext(ctx)
	}
	s.errors.Standard(func(w http.ResponseWriter, r *http.Request) error {
		err := s.serve(c, w, r)
		if e, ok := errors.AsType[*apierror.Error](err); ok {
			c.code = e.Code()
		}
		return err
	}).ServeHTTP(c, r)
	c.begin(http.StatusOK) // a handler that wrote nothing meant this
	finished = true
}

// serve runs the checks in order. A request that fails one check does not reach the next.
func (s *Surface) serve(c *call, w http.ResponseWriter, r *http.Request) error {
	nobody := s.identify(c, r)
	if err := s.limit(c, r); err != nil {
		return err
	}
	if nobody != nil {
		return c.challenge(nobody) // after the limit, so that unauthenticated requests are counted too
	}
	if c.hasCookie {
		if err := s.checkOrigin(r); err != nil {
			return err
		}
	}
	if c.isSession() {
		if c.route == nil || !c.route.SessionsAllowed {
			return s.serveElsewhere(c, w, r)
		}
	}
	if err := s.resolveVersion(c, r); err != nil {
		return err
	}
	if c.route == nil || c.principal.ForInstallation && !c.route.Installations {
		return codes.EndpointNotExposed.New()
	}
	if err := c.checkScope(); err != nil {
		return err
	}
	if err := s.checkPermission(r.Context(), c); err != nil {
		return err
	}
	return s.run(c, w, r) // with idempotency, where a token writes
}

// challenge adds the scope that the route asks for to the challenge of a 401.
func (c *call) challenge(err error) error {
	if c.route == nil {
		return err
	}
	e, ok := errors.AsType[*apierror.Error](err)
	if !ok || e.Status() != http.StatusUnauthorized {
		return err
	}
	return e.WithScope(c.route.challengeScope())
}

// serveElsewhere is for people on routes that are for apps: refused, if the route
// says so, or the host's own.
func (s *Surface) serveElsewhere(c *call, w http.ResponseWriter, r *http.Request) error {
	if c.route != nil && c.route.AppsOnly != (apierror.Entry{}) {
		return c.route.AppsOnly.New()
	}
	s.cfg.Fallback.ServeHTTP(w, r.WithContext(identity.WithSession(r.Context(), c.session)))
	return nil
}

// checkScope is the first gate of an app. People have no scopes.
func (c *call) checkScope() error {
	if c.isOAuth() && c.route.Scope != AnyScope && !c.principal.Scopes.Has(c.route.Scope) {
		return codes.InsufficientScope.New(c.route.Scope)
	}
	return nil
}

// run calls the route's handler.
func (s *Surface) run(c *call, w http.ResponseWriter, r *http.Request) error {
	ctx := identity.WithPrincipal(r.Context(), c.principal)
	if c.isSession() {
		ctx = identity.WithSession(ctx, c.session)
	}
	return c.route.keyed(w, r.WithContext(ctx))
}
