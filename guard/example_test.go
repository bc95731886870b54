package guard_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
)

// tokens stands for an oauthserver.Server.
type tokens map[string]identity.Principal

func (t tokens) VerifyAccessToken(_ context.Context, token string) (identity.Principal, error) {
	return t[token], nil
}

// Two handlers of a host, opened to partner apps.
func ExampleSurface() {
	surface, err := guard.New(guard.Config{
		Tokens: tokens{"t1": {AppID: "app_1", BusinessID: "biz_1", UserID: "usr_1", Scopes: identity.MustScopes("invoices:read")}},
		Permissions: guard.DefaultRoles().Permissions(func(context.Context, string, string) (guard.Role, error) {
			return guard.Owner, nil // ask your own tables
		}),
		Versions: guard.Versions{Current: "2026-09-01", All: []guard.Version{{Name: "2026-09-01"}}},
	})
	if err != nil {
		panic(err)
	}
	err = surface.Handle(
		guard.Route{Pattern: "GET /invoices", Scope: "invoices:read", Handler: func(w http.ResponseWriter, r *http.Request) error {
			p, _ := identity.PrincipalFrom(r.Context())
			return apierror.WriteJSON(w, http.StatusOK, "invoices of "+p.BusinessID)
		}},
		guard.Route{Pattern: "DELETE /payments/{id}", Scope: "payments:write", Permission: "payments.delete",
			Handler: guard.HTTP(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))},
	)
	if err != nil {
		panic(err)
	}

	for _, call := range []string{"GET /invoices", "DELETE /payments/pay_1", "GET /admin"} {
		var method, path string
		_, _ = fmt.Sscan(call, &method, &path)
		r, w := httptest.NewRequest(method, path, nil), httptest.NewRecorder()
		r.Header.Set("Authorization", "Bearer t1")
		surface.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 "invoices of biz_1"
	// 403 {"statusCode":403,"message":"Insufficient scope: this call needs payments:write","error":"Forbidden","code":"INSUFFICIENT_SCOPE","params":{"p0":"payments:write"}}
	// 403 {"statusCode":403,"message":"endpoint not exposed to OAuth clients","error":"Forbidden","code":"ENDPOINT_NOT_EXPOSED"}
}
