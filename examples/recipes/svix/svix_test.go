package svix_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	recipe "github.com/partnerkit/partnerkit/examples/recipes/svix"
	"github.com/partnerkit/partnerkit/partnertest"
)

// A receiver verifies what we send with the library and the secret that it had.
func TestImport(t *testing.T) {
	key := "whsec_" + base64.StdEncoding.EncodeToString([]byte("24 bytes, as Svix makes."))
	arrived := make(chan error, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		library, err := standardwebhooks.NewWebhook(key)
		if err == nil {
			var body []byte
			if body, err = io.ReadAll(r.Body); err == nil {
				err = library.Verify(body, r.Header)
			}
		}
		arrived <- err
	}))
	t.Cleanup(receiver.Close)
	h := partnertest.New(t, recipe.Configure, func(c *partnerkit.Config) {
		c.Clock = clock.NewManual(time.Now()) // the library reads the real time
	})
	app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"events:read", "invoices:read"}})
	err := recipe.Import(t.Context(), h.Platform, app.ID, []recipe.Endpoint{
		{URL: receiver.URL, FilterTypes: []string{"invoice.paid"}, Key: key},
		{URL: receiver.URL, FilterTypes: []string{"invoice.burned"}, Key: key},
	})
	if err == nil || !strings.Contains(err.Error(), "invoice.burned") {
		t.Errorf("a type that there is not: %v", err)
	}
	h.Record(events.Draft{Type: "invoice.paid", Data: json.RawMessage(`{"invoice":{"id":"inv_1"}}`)})
	h.Settle()
	select {
	case err := <-arrived:
		if err != nil {
			t.Error(err)
		}
	default:
		t.Error("nothing arrived")
	}
}
