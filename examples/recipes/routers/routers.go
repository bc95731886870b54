// Package routers puts a platform behind chi and behind gin: the router serves what needs no
// credentials and hands everything else to the platform, which calls the backend's own router
// for people who are signed in.
package routers

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
)

// Invoice is a route for apps. Patterns are those of net/http, whatever router the backend has:
// handlers read {id} with PathValue.
var Invoice = guard.Route{Pattern: "GET /invoices/{id}", Scope: "invoices:read", Handler: func(w http.ResponseWriter, r *http.Request) error {
	caller, _ := identity.PrincipalFrom(r.Context())
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"id": r.PathValue("id"), "business": caller.BusinessID})
}}

// OwnChi is what people use who are signed in: Config.APIRoutes. A middleware of chi runs here,
// not on the routes of apps.
func OwnChi() http.Handler {
	r := chi.NewRouter()
	r.Get("/reports/{year}", func(w http.ResponseWriter, r *http.Request) {
		session, _ := identity.SessionFrom(r.Context())
		_, _ = w.Write([]byte(chi.URLParam(r, "year") + " of " + session.BusinessID))
	})
	return r
}

// APIWithChi is the API host. A middleware of the outer router must leave the body and the
// Authorization header as they are.
func APIWithChi(platform *partnerkit.Platform) http.Handler {
	r := chi.NewRouter()
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r.Mount("/", platform.API())
	return r
}

// OwnGin is the same with gin.
func OwnGin() http.Handler {
	r := gin.New()
	r.GET("/reports/:year", func(c *gin.Context) {
		session, _ := identity.SessionFrom(c.Request.Context())
		c.String(http.StatusOK, "%s of %s", c.Param("year"), session.BusinessID)
	})
	return r
}

// APIWithGin is the API host. gin answers paths that it does not know with NoRoute, and has a
// status of 404 set by then; the platform's response replaces it.
func APIWithGin(platform *partnerkit.Platform) http.Handler {
	r := gin.New()
	r.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	r.NoRoute(gin.WrapH(platform.API()))
	return r
}
