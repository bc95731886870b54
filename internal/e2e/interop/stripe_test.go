package interop_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// delivery is one as it came.
type delivery struct {
	Header string `json:"header"`
	Body   string `json:"body"`
	Secret string `json:"secret"`
	Other  string `json:"other"` // a secret that did not sign
}

// deliver has a server send a webhook, after a rotation of its secret: with two
// signatures, of which the receiver knows the older or the newer secret.
func deliver(t *testing.T) (byOld, byNew delivery) {
	t.Helper()
	arrived := make(chan delivery, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		arrived <- delivery{Header: r.Header.Get(signature.Header), Body: string(body)}
	}))
	t.Cleanup(hook.Close)
	s := start(t, hook.URL)
	secret := s.sendPaid()
	select {
	case d := <-arrived:
		byOld, byNew = d, d
	case <-time.After(time.Minute):
		t.Fatal("no delivery")
	}
	byOld.Secret, byOld.Other = "whsec_interop", "whsec_another"
	byNew.Secret, byNew.Other = secret, "whsec_another"
	return byOld, byNew
}

// sendPaid connects the app, rotates the secret of its webhook, and records an event, which is
// signed with both secrets. It returns the new one.
func (s *server) sendPaid() (secret string) {
	s.t.Helper()
	p, err := s.person()
	if err != nil {
		s.t.Fatal(err)
	}
	connect := "/oauth/authorize?response_type=code&client_id=interop-web&scope=invoices:read&redirect_uri=" + s.redirect
	if _, err := p.allow(s.App + connect); err != nil {
		s.t.Fatal(err)
	}
	if secret, err = p.rotateSecret(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.dev("events", `{"businessId": "biz_live", "type": "invoice.paid", "data": {"id": "inv_1", "note": "12.50 €"}}`, nil); err != nil {
		s.t.Fatal(err)
	}
	return secret
}

// SIG-01, SIG-02, SIG-03: what the service sends passes Stripe's own checks, in both of
// their libraries, and what they sign passes ours.
func TestStripe(t *testing.T) {
	t.Parallel()
	byOld, byNew := deliver(t)
	for name, d := range map[string]delivery{"old secret": byOld, "new secret": byNew} {
		t.Run("Go, "+name, func(t *testing.T) {
			t.Parallel()
			if err := webhook.ValidatePayload([]byte(d.Body), d.Header, d.Secret); err != nil {
				t.Error(err)
			}
			if _, err := webhook.ConstructEvent([]byte(d.Body), d.Header, d.Secret); err == nil {
				t.Error("ConstructEvent takes what is not an event of Stripe's: docs/clients.md says otherwise")
			}
			if err := webhook.ValidatePayload([]byte(d.Body), d.Header, d.Other); err == nil {
				t.Error("accepted with another secret")
			}
		})
		t.Run("Node.js, "+name, func(t *testing.T) {
			t.Parallel()
			needNode(t)
			header := runs(t, exec.CommandContext(t.Context(), "node", "stripe.mjs"), d, "accepted", "refused", "refused when old", "signed")
			verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{d.Secret}})
			if err != nil {
				t.Fatal(err)
			}
			if err := verifier.Verify(header, []byte(d.Body)); err != nil {
				t.Errorf("%s: %v", header, err)
			}
		})
	}
}
