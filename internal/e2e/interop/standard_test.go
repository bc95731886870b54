package interop_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// standardDelivery is one as it came, with the headers of Standard Webhooks.
type standardDelivery struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Secret  string            `json:"secret"` // as it was shown
	Other   string            `json:"other"`  // a secret that did not sign
}

// SIG-05, DLV-12: the libraries of Standard Webhooks, as they are published, take the secret as it
// was shown and verify what the service sends, also while the secret before a rotation signs too.
func TestStandardWebhooks_SIG05(t *testing.T) {
	t.Parallel()
	arrived := make(chan standardDelivery, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		d := standardDelivery{Headers: map[string]string{}, Body: string(body)}
		for name := range r.Header {
			d.Headers[name] = r.Header.Get(name)
		}
		arrived <- d
	}))
	t.Cleanup(hook.Close)
	secret := start(t, hook.URL, "-standard-webhooks").sendPaid()
	var d standardDelivery
	select {
	case d = <-arrived:
	case <-time.After(time.Minute):
		t.Fatal("no delivery")
	}
	d.Secret, d.Other = secret, "whsec_"+base64.StdEncoding.EncodeToString([]byte("another secret of 32 bytes, or so"))

	t.Run("Go", func(t *testing.T) {
		t.Parallel()
		header := http.Header{}
		for name, value := range d.Headers {
			header.Set(name, value)
		}
		verify := func(secret, body string) error {
			w, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			return w.Verify([]byte(body), header)
		}
		if err := verify(d.Secret, d.Body); err != nil {
			t.Error(err)
		}
		if verify(d.Other, d.Body) == nil || verify(d.Secret, d.Body+" ") == nil {
			t.Error("another secret or body passes")
		}
		raw, err := standardwebhooks.NewWebhookRaw([]byte("whsec_interop")) // of the fixtures, before the rotation
		if err != nil {
			t.Fatal(err)
		}
		if err := raw.Verify([]byte(d.Body), header); err != nil {
			t.Errorf("a secret of the host's: %v", err)
		}
	})
	t.Run("Node.js", func(t *testing.T) {
		t.Parallel()
		needNode(t)
		runs(t, exec.CommandContext(t.Context(), "node", "standard.mjs"), d, "accepted", "refused")
	})
}
