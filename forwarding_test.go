package partnerkit_test

import (
	"net/http"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/webhooks"
)

// forwarding is a store that has the methods of partnerkit.Store and no others.
type forwarding struct{ partnerkit.Store }

// A platform works on a store without the optional interfaces: apps call the API, and an
// event reaches its webhook although the store gives no hints.
func TestPlatformOnForwardingStore(t *testing.T) {
	t.Parallel()
	store := forwarding{config(t).Store}
	if _, ok := any(store).(webhooks.Watcher); ok {
		t.Fatal("the store gives hints")
	}
	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.Store = store
		c.Routes = []guard.Route{{Pattern: "POST /invoices", Scope: "invoices:write", Handler: func(w http.ResponseWriter, _ *http.Request) error {
			return apierror.WriteJSON(w, http.StatusCreated, map[string]string{"id": "inv_1"})
		}}}
	})
	app := h.Connect(partnertest.ConnectOptions{})
	app.Do(http.MethodPost, "/invoices", struct{}{}).Want(http.StatusCreated)
	receiver := h.Receiver(app, events.AppScopesUpdated)
	h.Record(events.Draft{Type: events.AppScopesUpdated, AppID: app.ID, Data: struct{}{}})
	receiver.Expect(events.AppScopesUpdated)
}
