package e2e_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

const (
	newSecret = "whsec_test_new"
	oldSecret = "whsec_test_old"
)

var body = []byte(`{"id":"dlv_1","eventId":"evt_1","type":"invoice.paid","apiVersion":"2026-09-01","businessId":"biz_1","created":1767225600,"data":{"total":"12.50 €"}}`)

func sign(t *testing.T, at time.Time, secrets ...string) string {
	t.Helper()
	signer, err := signature.NewSigner(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return signer.Sign(at, body)
}

// SIG-01, SIG-02: Stripe's receivers take our signatures, during a rotation with
// either secret, and refuse what ours refuse.
func TestStripeVerifies(t *testing.T) {
	t.Parallel()
	now := time.Now()
	changed := []byte(strings.Replace(string(body), "12.50", "12.51", 1))
	for name, test := range map[string]struct {
		header string
		body   []byte
		secret string
		want   error // within Stripe's tolerance, 300 seconds
		later  error // within two hours, or any time
	}{
		"one secret":           {sign(t, now, newSecret), body, newSecret, nil, nil},
		"rotation, new secret": {sign(t, now, newSecret, oldSecret), body, newSecret, nil, nil},
		"rotation, old secret": {sign(t, now, newSecret, oldSecret), body, oldSecret, nil, nil},
		"after it, old secret": {sign(t, now, newSecret), body, oldSecret, webhook.ErrNoValidSignature, webhook.ErrNoValidSignature},
		"without the prefix":   {sign(t, now, newSecret), body, strings.TrimPrefix(newSecret, "whsec_"), webhook.ErrNoValidSignature, webhook.ErrNoValidSignature},
		"changed body":         {sign(t, now, newSecret, oldSecret), changed, newSecret, webhook.ErrNoValidSignature, webhook.ErrNoValidSignature},
		"an hour old":          {sign(t, now.Add(-time.Hour), newSecret), body, newSecret, webhook.ErrTooOld, nil},
		"an hour old, two":     {sign(t, now.Add(-time.Hour), newSecret, oldSecret), body, oldSecret, webhook.ErrTooOld, nil},
		"changed, an hour old": {sign(t, now.Add(-time.Hour), newSecret), changed, newSecret, webhook.ErrTooOld, webhook.ErrNoValidSignature},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := webhook.ValidatePayload(test.body, test.header, test.secret); !errors.Is(err, test.want) {
				t.Errorf("ValidatePayload: %v, want %v", err, test.want)
			}
			if err := webhook.ValidatePayloadWithTolerance(test.body, test.header, test.secret, 2*time.Hour); !errors.Is(err, test.later) {
				t.Errorf("ValidatePayloadWithTolerance: %v, want %v", err, test.later)
			}
			if err := webhook.ValidatePayloadIgnoringTolerance(test.body, test.header, test.secret); !errors.Is(err, test.later) {
				t.Errorf("ValidatePayloadIgnoringTolerance: %v, want %v", err, test.later)
			}
		})
	}
}

// SIG-03: our receivers take what Stripe's library signs.
func TestVerifiesStripe(t *testing.T) {
	t.Parallel()
	verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{newSecret, oldSecret}})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		payload webhook.UnsignedPayload
		want    error
	}{
		"new secret":     {webhook.UnsignedPayload{Secret: newSecret}, nil},
		"old secret":     {webhook.UnsignedPayload{Secret: oldSecret}, nil},
		"another":        {webhook.UnsignedPayload{Secret: "whsec_test_other"}, signature.ErrNoMatch},
		"an hour old":    {webhook.UnsignedPayload{Secret: newSecret, Timestamp: time.Now().Add(-time.Hour)}, signature.ErrTooOld},
		"another scheme": {webhook.UnsignedPayload{Secret: newSecret, Scheme: "v0"}, signature.ErrMalformed},
	} {
		test.payload.Payload = body
		signed := webhook.GenerateTestSignedPayload(&test.payload)
		if err := verifier.Verify(signed.Header, body); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}
