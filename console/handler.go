package console

import (
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/muxes"
	"github.com/partnerkit/partnerkit/partner"
)

// route is one call of the console's API.
type route struct {
	pattern string // below /developer
	handle  handler
}

// handler serves a call of an actor.
type handler func(w http.ResponseWriter, r *http.Request, by Actor) error

// appHandler serves a call about an app that is the actor's.
type appHandler func(w http.ResponseWriter, r *http.Request, by Actor, app partner.App) error

// ofApp finds the app of the path.
func (c *Console) ofApp(h appHandler) handler {
	return func(w http.ResponseWriter, r *http.Request, by Actor) error {
		app, err := c.App(r.Context(), by, r.PathValue("appId"))
		if err != nil {
			return err
		}
		return h(w, r, by, app)
	}
}

// allRoutes returns the calls of all parts.
func (c *Console) allRoutes() []route {
	return slices.Concat(
		c.appRoutes(), c.secretRoutes(), c.webhookRoutes(), c.deliveryRoutes(), c.fieldRoutes(),
		c.registrationRoutes(), c.tokenRoutes(), c.eventRoutes(), c.analyticsRoutes(), c.connectionRoutes(), c.auditRoutes(),
		c.listingRoutes(), c.assetRoutes(), c.extensionRoutes(), c.functionRoutes(),
	)
}

// Patterns returns the patterns of all calls, such as "GET /developer/apps/{appId}".
func (c *Console) Patterns() []string {
	return jsonapi.Convert(c.allRoutes(), func(one route) string { return one.pattern })
}

func (c *Console) newRoutes() http.Handler {
	mux := http.NewServeMux()
	for _, one := range c.allRoutes() {
		mux.Handle(one.pattern, c.errors.Standard(func(w http.ResponseWriter, r *http.Request) error {
			by, err := c.caller(r)
			if err != nil {
				return err
			}
			return one.handle(w, r, by)
		}))
	}
	known := muxes.WithErrors(mux, c.errors.WriteStandard)
	return c.errors.ValidPath(c.errors.Standard(func(w http.ResponseWriter, r *http.Request) error {
		if _, pattern := mux.Handler(r); pattern == "" {
			if _, err := c.caller(r); err != nil {
				return err // only signed-in users can find out which paths do not exist
			}
		}
		known.ServeHTTP(w, r)
		return nil
	}))
}

// ServeHTTP serves the JSON console: everything below /developer. Writes that the
// cookie of a session authenticates must come from a page of ours, or from no page. A
// console token needs no such rule, since no browser adds it by itself.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.errors.Standard(func(w http.ResponseWriter, r *http.Request) error {
		if err := c.csrf.Check(r); err != nil && !HasToken(r) {
			return apierror.Forbidden("This request came from another site")
		}
		w.Header().Set("Cache-Control", "no-store")
		c.routes.ServeHTTP(w, r)
		return nil
	}).ServeHTTP(w, r)
}
