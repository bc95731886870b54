package partnerkit_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

func TestEraseUser(t *testing.T) {
	t.Parallel()
	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.Routes = []guard.Route{{Pattern: "GET /invoices", Scope: "invoices:read", Handler: func(w http.ResponseWriter, _ *http.Request) error {
			return apierror.WriteJSON(w, http.StatusOK, struct{}{})
		}}}
	})
	h.Host.AddBusiness("usr_other", oauthserver.Business{ID: partnertest.Business, Name: "B", MayConnect: true})
	app := h.Connect(partnertest.ConnectOptions{})
	other := h.Connect(partnertest.ConnectOptions{UserID: "usr_other"})
	app.Get("/invoices").Want(http.StatusOK)

	t.Run("OPS-04 one call ends consents and families and reports it", func(t *testing.T) {
		got, err := h.EraseUser(t.Context(), app.UserID)
		if err != nil || got.Consents != 1 || got.Families != 1 || got.AuditEntries != 1 {
			t.Errorf("erased %+v, %v", got, err)
		}
		app.Get("/invoices").Want(http.StatusUnauthorized)
		refused := app.Token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {app.RefreshToken}}).Want(http.StatusBadRequest)
		if got := refused.Text("error"); got != "invalid_grant" {
			t.Errorf("a refresh: %s", got)
		}
		other.Get("/invoices").Want(http.StatusOK)
	})
	t.Run("OPS-04 the audit log has no id", func(t *testing.T) {
		entries, err := h.Store.Audit(t.Context(), audit.Query{AppID: app.ID, Limit: 10})
		if err != nil || len(entries) == 0 {
			t.Fatalf("entries %v, %v", entries, err)
		}
		for _, entry := range entries {
			if entry.UserID != partner.ErasedUser {
				t.Errorf("entry %+v", entry)
			}
		}
	})
	t.Run("OPS-04 it can be repeated", func(t *testing.T) {
		if got, err := h.EraseUser(t.Context(), app.UserID); err != nil || got != (partner.Erasure{}) {
			t.Errorf("erased %+v, %v", got, err)
		}
	})
	for _, id := range []string{"", partner.ErasedUser, "a\x00b"} {
		if _, err := h.EraseUser(t.Context(), id); err == nil {
			t.Errorf("%q was erased", id)
		}
	}
}
