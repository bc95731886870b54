package signature_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// WH-02: every member has its place; a test has no event.
func TestDelivery(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]signature.Delivery{
		body: {
			ID: "dlv_1", EventID: "evt_1", Type: "invoice.paid", APIVersion: "2026-09-01",
			BusinessID: "biz_1", Created: 1767225600, Data: json.RawMessage(`{"total":"12.50 €"}`),
		},
		`{"id":"dlv_2","eventId":null,"type":"invoice.created","businessId":"test","created":1,"data":{"test":true},"later":1}`: {
			ID: "dlv_2", Type: "invoice.created", BusinessID: "test", Created: 1, Data: json.RawMessage(`{"test":true}`),
		},
	} {
		var got signature.Delivery
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if got.IsTest() != (want.EventID == "") {
			t.Errorf("%s: IsTest = %t", text, got.IsTest())
		}
	}
}
