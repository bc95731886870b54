package signature_test

import (
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

const (
	newSecret = "whsec_test_new"
	oldSecret = "whsec_test_old"
	body      = `{"id":"dlv_1","eventId":"evt_1","type":"invoice.paid","apiVersion":"2026-09-01","businessId":"biz_1","created":1767225600,"data":{"total":"12.50 €"}}`
)

var sentAt = time.Unix(1767225600, 0)

func newSigner(t testing.TB, secrets ...string) *signature.Signer {
	t.Helper()
	signer, err := signature.NewSigner(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// sign makes a header for body, sent at sentAt.
func sign(t testing.TB, secrets ...string) string {
	t.Helper()
	return newSigner(t, secrets...).Sign(sentAt, []byte(body))
}

// newVerifier makes one for which it is now.
func newVerifier(t testing.TB, now time.Time, secrets ...string) *signature.Verifier {
	t.Helper()
	verifier, err := signature.NewVerifier(signature.Config{Secrets: secrets, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return verifier
}
