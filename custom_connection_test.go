package partnerkit_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// customRoutes are routes that need a permission each, one of them not open to installation
// tokens.
func customRoutes(calls *[]identity.Principal) []guard.Route {
	serve := func(w http.ResponseWriter, r *http.Request) error {
		p, _ := identity.PrincipalFrom(r.Context())
		*calls = append(*calls, p)
		return apierror.WriteJSON(w, http.StatusOK, struct{}{})
	}
	return []guard.Route{
		{Pattern: "GET /invoices", Scope: "invoices:read", Installations: true, Handler: serve},
		{Pattern: "POST /journal", Scope: "journal:write", Permission: "journal.post", Installations: true, Handler: serve},
		{Pattern: "DELETE /payments/{id}", Scope: "payments:write", Permission: "payments.delete", Installations: true, Handler: serve},
		{Pattern: "GET /profile", Scope: "profile:read", Handler: serve},
	}
}

// someone has every permission but deleting payments.
type someone struct{}

func (someone) HasPermission(_ context.Context, _, userID string, permission guard.Permission) (bool, error) {
	return userID == partnertest.User && permission != "payments.delete", nil
}

func withCustom(calls *[]identity.Principal) func(*partnerkit.Config) {
	return func(c *partnerkit.Config) {
		c.Routes, c.Permissions, c.OAuth.CustomConnections = customRoutes(calls), someone{}, true
	}
}

func TestCustomConnection(t *testing.T) {
	t.Parallel()
	var calls []identity.Principal
	h := partnertest.New(t, withCustom(&calls))
	app := h.ConnectCustom(partnertest.ConnectOptions{Scopes: []string{"invoices:read", "journal:write", "payments:write", "profile:read", "events:read"}})
	if app.RefreshToken != "" {
		t.Error("IT-02: there is a refresh token")
	}
	app.Get("/invoices").Want(http.StatusOK)
	app.Do(http.MethodPost, "/journal", struct{}{}).Want(http.StatusOK)
	app.Get("/events").Want(http.StatusOK)
	for _, p := range calls {
		if p.UserID != "" || !p.ForInstallation || p.BusinessID != partnertest.Business || p.AppID != app.ID || p.InstallationID == "" {
			t.Errorf("IT-03: the call was made for %+v", p)
		}
	}
	t.Run("IT-03 only routes that say so", func(t *testing.T) {
		app.Get("/profile").WantCode(http.StatusForbidden, codes.EndpointNotExposed.Code)
	})
	t.Run("IT-01 no permission above the approver's", func(t *testing.T) {
		app.Do(http.MethodDelete, "/payments/1", nil).WantCode(http.StatusForbidden, codes.PermissionRequired.Code)
	})
	t.Run("IT-03 no person's membership", func(t *testing.T) {
		h.Host.RemoveBusiness(partnertest.User, partnertest.Business)
		app.Get("/invoices").Want(http.StatusOK)
		app.Renew()
		app.Get("/invoices").Want(http.StatusOK)
		h.Host.AddBusiness(partnertest.User, oauthserver.Business{ID: partnertest.Business, Name: "Corner Bakery", MayConnect: true})
	})
	t.Run("IT-02 scope", func(t *testing.T) {
		var narrowed struct {
			Scope     string
			ExpiresIn int `json:"expires_in"`
		}
		app.Token(url.Values{"grant_type": {"client_credentials"}, "scope": {"invoices:read"}}).Want(http.StatusOK).Decode(&narrowed)
		if narrowed.Scope != "invoices:read" || narrowed.ExpiresIn != 3600 {
			t.Errorf("%+v", narrowed)
		}
		wide := app.Token(url.Values{"grant_type": {"client_credentials"}, "scope": {"invoices:read customers:read"}}).Want(http.StatusBadRequest)
		if !strings.Contains(string(wide.Body), `"invalid_scope"`) {
			t.Errorf("a wider scope: %s", wide.Body)
		}
	})
}

// Calls and ends that name no user concern no custom connection.
func TestCustomConnectionIsNoConsent_IT03(t *testing.T) {
	t.Parallel()
	var calls []identity.Principal
	h := partnertest.New(t, withCustom(&calls))
	app := h.ConnectCustom(partnertest.ConnectOptions{Scopes: []string{"invoices:read"}})
	if err := h.OAuth().RevokeConsent(t.Context(), app.ID, app.BusinessID, ""); !errors.Is(err, partner.ErrNotFound) {
		t.Errorf("the consent of nobody: %v", err)
	}
	if err := h.OAuth().MemberLeft(t.Context(), app.BusinessID, ""); err == nil {
		t.Error("nobody has left")
	}
	if err := h.OAuth().MemberLeft(t.Context(), app.BusinessID, partnertest.User); err != nil {
		t.Error(err)
	}
	app.Get("/invoices").Want(http.StatusOK)
	if _, err := h.OAuth().EraseUser(t.Context(), partnertest.User); err != nil {
		t.Error(err)
	}
	app.Get("/invoices").Want(http.StatusOK)
}

// The other gates, the limits and the records treat a call with an installation token like any
// call of an app.
func TestInstallationTokenPassesGates_IT03(t *testing.T) {
	t.Parallel()
	var calls []identity.Principal
	h := partnertest.New(t, withCustom(&calls), func(c *partnerkit.Config) {
		c.Versions = guard.Versions{Current: "2026-09-01", All: []guard.Version{{Name: "2026-09-01"}}}
		c.Limits.PerBusiness = ratelimit.Limit{Count: 4, Window: time.Minute}
	})
	app := h.ConnectCustom(partnertest.ConnectOptions{Scopes: []string{"invoices:read", "journal:write"}})
	app.Do(http.MethodPost, "/journal", struct{}{}, "Idempotency-Key", "one").Want(http.StatusOK)
	if again := app.Do(http.MethodPost, "/journal", struct{}{}, "Idempotency-Key", "one").Want(http.StatusOK); len(calls) != 1 || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%d calls, %v", len(calls), again.Header)
	}
	app.Do(http.MethodGet, "/invoices", nil, "Service-Version", "1999-01-01").WantCode(http.StatusBadRequest, codes.UnsupportedAPIVersion.Code)
	app.Do(http.MethodDelete, "/payments/1", nil).WantCode(http.StatusForbidden, codes.InsufficientScope.Code)
	app.Get("/invoices").WantCode(http.StatusTooManyRequests, codes.AppRateLimited.Code)
	h.Settle()
	logged := partnertest.Send(t, h.Browser(partnertest.User, ""), func() *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.APIURL+"/developer/apps/"+app.ID+"/requests", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}()).Want(http.StatusOK)
	var log struct {
		Data []struct {
			BusinessID string `json:"businessId"`
			Code       string
		}
	}
	logged.Decode(&log)
	codes := map[string]int{}
	for _, request := range log.Data {
		codes[request.Code]++
		if request.BusinessID != partnertest.Business {
			t.Errorf("%+v", request)
		}
	}
	if codes["UNSUPPORTED_API_VERSION"] != 1 || codes["INSUFFICIENT_SCOPE"] != 1 || codes["APP_RATE_LIMITED"] != 1 {
		t.Errorf("the request log has %v", codes)
	}
}
