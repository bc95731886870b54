package routers_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/partnerkit/partnerkit"
	recipe "github.com/partnerkit/partnerkit/examples/recipes/routers"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/partnertest"
)

func TestRouters(t *testing.T) {
	gin.SetMode(gin.TestMode)
	for name, router := range map[string]struct {
		own http.Handler
		api func(*partnerkit.Platform) http.Handler
	}{"chi": {recipe.OwnChi(), recipe.APIWithChi}, "gin": {recipe.OwnGin(), recipe.APIWithGin}} {
		t.Run(name, func(t *testing.T) {
			h := partnertest.New(t, func(c *partnerkit.Config) {
				c.APIRoutes, c.Routes = router.own, []guard.Route{recipe.Invoice}
			})
			app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"invoices:read"}})
			api := router.api(h.Platform)
			for _, c := range []struct {
				path   string
				change func(*http.Request)
				status int
				want   string
			}{
				{"/healthz", func(*http.Request) {}, http.StatusNoContent, ""},
				{"/invoices/inv_1", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+app.AccessToken) }, http.StatusOK, `"id":"inv_1"`},
				{"/invoices/inv_1", func(*http.Request) {}, http.StatusUnauthorized, ""},
				{"/reports/2026", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+app.AccessToken) }, http.StatusForbidden, ""},
				{"/reports/2026", func(r *http.Request) { r.AddCookie(h.Host.NewSession(partnertest.User, partnertest.Business)) }, http.StatusOK, "2026 of " + partnertest.Business},
				{"/.well-known/oauth-authorization-server", func(*http.Request) {}, http.StatusOK, `"issuer"`},
			} {
				r := httptest.NewRequest(http.MethodGet, h.APIURL+c.path, nil)
				c.change(r)
				if got := partnertest.Serve(t, api, r); got.Status != c.status || !strings.Contains(got.Body, c.want) {
					t.Errorf("%s, want %d %s", got, c.status, c.want)
				}
			}
		})
	}
}
