package inbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/examples/receiver/inbox"
)

// FuzzParseDelivery: every delivery that is accepted from a verified body has an id to
// deduplicate by and a type (CLI-02).
func FuzzParseDelivery(f *testing.F) {
	for _, seed := range []string{
		`{"id":"dlv_1","eventId":"evt_1","type":"invoice.created","data":{}}`, `{"id":"dlv_1","eventId":null,"type":"a","businessId":"test"}`, `{"id":"","type":"a"}`, `{"id":1}`, `null`, `[]`, ``,
		`{"id":"a","id":"b","type":"c"}`, `{"ID":"a","TYPE":"b"}`, `{"id":"` + strings.Repeat("a", 256) + `","type":"b"}`, `{"id":"a","type":"b","created":1e99}`, "{\"id\":\"\xff\",\"type\":\"b\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := inbox.ParseDelivery(body)
		if err != nil {
			return
		}
		if e.ID == "" || len(e.ID) > 255 || e.Type == "" || !json.Valid(body) {
			t.Fatalf("%q is %+v", body, e)
		}
		if again, err := inbox.ParseDelivery(body); err != nil || again.ID != e.ID {
			t.Fatalf("%q is %q, and then %q: %v", body, e.ID, again.ID, err)
		}
	})
}
