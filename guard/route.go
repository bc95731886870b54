package guard

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
)

// AnyScope is the Scope of a route that asks for none in particular: every valid
// token may call it, and the handler decides what it gets to see.
const AnyScope = "*"

// Route is something that apps may call, and what they need for it.
type Route struct {
	// Pattern is a pattern of http.ServeMux with a method, such as "GET /invoices/{id}". A
	// GET serves HEAD too. A trailing slash would open all that is below it and
	// is refused; write {$}, or {rest...} where that is meant.
	Pattern string
	// Scope that the token must have, or [AnyScope]. It cannot be left out.
	Scope string
	// ChallengeScopes are the scopes in the challenge of a 401 on a route with [AnyScope]
	// whose handler checks scopes by itself, such as an MCP endpoint: clients that follow
	// challenges begin with them. Empty: it asks for none, and such clients request all
	// scopes of the resource's metadata. The challenge of another route asks for its Scope.
	ChallengeScopes []string
	// Permission that the user must have in the business, besides the scope;
	// empty means none.
	Permission Permission
	// Installations opens the route to the installation tokens of custom connections too, whose
	// calls have a business and no user: Principal.UserID is empty. Otherwise they are rejected
	// with ENDPOINT_NOT_EXPOSED.
	Installations bool
	// SessionsAllowed serves people too, with a session cookie or a token of the host, for
	// the business that they are signed into; without one it is a 400. They need the
	// permission and no scope. Otherwise their requests go to the host's own handler.
	SessionsAllowed bool
	// AppsOnly is the error that people with a session cookie get here, usually a 403; zero: their
	// requests go to the host's own handler.
	AppsOnly apierror.Entry
	// ReadOnly marks a route that does not write although its method usually does,
	// such as a search by POST. The route takes no Idempotency-Key.
	ReadOnly bool

	// Description is for the document that Platform.OpenAPI returns.
	Description Description

	Handler apierror.Handler // see [HTTP] for an http.Handler
}

// HTTP makes a handler of an http.Handler, for [Route].
func HTTP(h http.Handler) apierror.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	}
}

// Handle opens routes. The error names the route that is not declared as it should
// be, or that clashes with another; those before it are open then.
func (s *Surface) Handle(routes ...Route) error {
	for _, route := range routes {
		if err := s.handle(route); err != nil {
			return fmt.Errorf("guard: route %q: %w", route.Pattern, err)
		}
	}
	return nil
}

// route is a Route that was checked.
type route struct {
	Route
	method, path string
	keyed        apierror.Handler // the handler, with idempotency where it writes
}

func (s *Surface) handle(declared Route) (err error) {
	if err := s.check(declared); err != nil {
		return err
	}
	checked := &route{Route: declared, keyed: declared.Handler}
	checked.method, checked.path = splitPattern(declared.Pattern)
	if checked.Writes() && s.cfg.Idempotency != nil {
		checked.keyed = s.cfg.Idempotency(declared.Handler)
	}
	defer func() { // the mux panics if something is wrong with a pattern
		if value := recover(); value != nil {
			err = fmt.Errorf("%v", value)
		}
	}()
	s.mux.Handle(declared.Pattern, gates{s, checked})
	s.routes = append(s.routes, declared)
	return nil
}

// Patterns returns the patterns of all routes that apps may call, in the order in which
// the routes were added. A request that matches none of them is rejected.
func (s *Surface) Patterns() []string {
	patterns := make([]string, len(s.routes))
	for i, route := range s.routes {
		patterns[i] = route.Pattern
	}
	return patterns
}

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

func (s *Surface) check(r Route) error {
	method, path := splitPattern(r.Pattern)
	known := s.cfg.Scopes.Names()
	switch {
	case !slices.Contains(methods, method):
		return errors.New("the pattern must begin with one of " + strings.Join(methods, ", "))
	case strings.HasSuffix(path, "/"):
		return errors.New("a trailing slash opens everything below it; write {$} or {rest...}")
	case r.Handler == nil:
		return errors.New("it has no Handler")
	case r.Scope == "":
		return errors.New("no Scope is declared; AnyScope opens it to every token")
	case r.Scope != AnyScope && !known.IsEmpty() && !known.Has(r.Scope):
		return fmt.Errorf("unknown scope %q", r.Scope)
	case len(r.ChallengeScopes) > 0 && r.Scope != AnyScope:
		return errors.New("ChallengeScopes are for AnyScope; the challenge of this route asks for its Scope")
	case r.Permission != "" && s.cfg.Permissions == nil:
		return errors.New("it needs a permission, and Config.Permissions is nil")
	case r.Permission == AllPermissions:
		return errors.New("Permission must name one")
	case r.SessionsAllowed && r.AppsOnly != apierror.Entry{}:
		return errors.New("SessionsAllowed and AppsOnly contradict each other")
	}
	for _, scope := range r.ChallengeScopes {
		if !known.IsEmpty() && !known.Has(scope) {
			return fmt.Errorf("ChallengeScopes: unknown scope %q", scope)
		}
	}
	if err := r.Description.check(); err != nil {
		return fmt.Errorf("Description: %w", err)
	}
	return nil
}

// challengeScope returns the scope in the challenge of a 401; empty means none.
func (r *route) challengeScope() string {
	if r.Scope == AnyScope {
		return strings.Join(r.ChallengeScopes, " ")
	}
	return r.Scope
}

func splitPattern(pattern string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	return method, strings.TrimLeft(path, " \t")
}

// Writes reports whether the route takes an Idempotency-Key: its method writes, and
// ReadOnly is not set.
func (r Route) Writes() bool {
	method, _ := splitPattern(r.Pattern)
	return !r.ReadOnly && method != http.MethodGet && method != http.MethodHead
}
