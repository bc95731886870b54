package partnerkit_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

// OPS-06: erasing a business uninstalls and redacts at once, keeps events and deliveries until the
// apps have been told, and then removes what is left. The business can connect apps again.
func TestEraseBusiness_OPS06(t *testing.T) {
	t.Parallel()
	h := partnertest.New(t, func(c *partnerkit.Config) { c.Operators, _ = c.Developers.(*partnertest.Host) })
	h.Host.SetUser(operator.User{ID: "usr_olga", Name: "Olga", IsOperator: true})
	const business = partnertest.Business
	app, other := h.Connect(partnertest.ConnectOptions{}), h.Connect(partnertest.ConnectOptions{})
	receiver := h.Receiver(app, "invoice.created", events.AppUninstalled, events.BusinessRedact)
	invoice, _ := events.DefaultCatalog().Lookup("invoice.created")
	_, err := h.Events().Record(t.Context(), events.Draft{Type: invoice.Name, BusinessID: business, Data: invoice.Sample})
	if err != nil {
		t.Fatal(err)
	}
	receiver.Expect("invoice.created")
	if err := h.OAuth().Uninstall(t.Context(), other.ID, business, ""); err != nil { // its redaction is due later
		t.Fatal(err)
	}
	receiver.Respond(http.StatusInternalServerError, http.StatusInternalServerError)

	call := func(body string) *partnertest.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.APIURL+"/operator/businesses/"+business+"/erase", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.AddCookie(h.Host.NewSession("usr_olga", business))
		return partnertest.Serve(t, h.API(), r)
	}
	call(`{"reason": ""}`).Want(http.StatusBadRequest)
	begun := call(`{"reason": "closed their account"}`).Want(http.StatusOK).JSON()
	if begun["installations"] != 1.0 || begun["events"] != 0.0 || begun["deliveries"] != 0.0 || begun["auditEntries"].(float64) < 3 || begun["waiting"].(float64) < 1 {
		t.Errorf("the first call: %v", begun)
	}
	app.Get("/events").Want(http.StatusUnauthorized)
	told := map[string]bool{}
	for range 2 {
		told[receiver.Next().Type] = true // refused
	}
	h.Advance(0)
	if again, err := h.EraseBusiness(t.Context(), business); err != nil || again.Waiting == 0 || again.Events+again.Deliveries+again.Installations > 0 {
		t.Errorf("while notices are retried: %+v, %v", again, err)
	}
	h.Advance(time.Minute)
	for range 2 {
		told[receiver.Next().Type] = true
	}
	if !told[events.AppUninstalled] || !told[events.BusinessRedact] {
		t.Errorf("the app was told %v", told)
	}
	h.Advance(0)
	done := call(`{"reason": "closed their account"}`).Want(http.StatusOK).JSON()
	if done["deliveries"] != 3.0 || done["events"].(float64) < 5 || done["waiting"] != nil {
		t.Errorf("after the notices: %v", done)
	}
	if left, err := h.EraseBusiness(t.Context(), business); err != nil || left != (partner.BusinessErasure{}) {
		t.Errorf("nothing is left: %+v, %v", left, err)
	}
	entries, err := h.Store.Audit(t.Context(), audit.Query{All: true, Limit: 100})
	reasons := 0
	for _, entry := range entries {
		if entry.Target == business || entry.Detail == business {
			t.Errorf("the audit log has %+v", entry)
		}
		if entry.Action == audited.BusinessErased && entry.Reason == "closed their account" && entry.UserID == "usr_olga" {
			reasons++
		}
	}
	if err != nil || reasons != 2 {
		t.Errorf("%d entries of the erasure, %v", reasons, err)
	}
	again := h.Connect(partnertest.ConnectOptions{})
	again.Get("/events").Want(http.StatusOK)
	for _, id := range []string{"", partner.ErasedBusiness, "a\x00b"} {
		if _, err := h.EraseBusiness(t.Context(), id); err == nil {
			t.Errorf("%q was erased", id)
		}
	}
}
