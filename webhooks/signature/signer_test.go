package signature_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// Made by openssl, which knows nothing of us, for each secret:
//
//	printf '%s' "1767225600.$body" | openssl dgst -sha256 -hmac whsec_test_new
//	printf '1767225600.'           | openssl dgst -sha256 -hmac whsec_test_new
//	printf '0.\000\377.\n'         | openssl dgst -sha256 -hmac whsec_test_new
const (
	bodyByNew   = "165fb7ac9b4a47dcdfa0e3734c0aa7d9f113a47460c537c5e99db13b3f995a52"
	bodyByOld   = "dcf4aaae4599022dec1a5b96e0edb28ad0e8deaeeb598dd54a362ed093507cbf"
	emptyByNew  = "4a9e74f07ce143ae0de63298b6d98a8aed7e4d0ffff7f2716f1ac19fdb7f9c04"
	binaryByNew = "7e2695b0861458d60bb76e9ecc2b20148011802bc0b6a5fae9fe44c7bfe4ba53"
)

// SIG-01: the header, keyed with the whole secret; SIG-02: the new one first.
func TestSign(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		secrets []string
		t       time.Time
		body    string
		want    string
	}{
		"one secret":             {[]string{newSecret}, sentAt, body, "t=1767225600,v1=" + bodyByNew},
		"two":                    {[]string{newSecret, oldSecret}, sentAt, body, "t=1767225600,v1=" + bodyByNew + ",v1=" + bodyByOld},
		"part of a second":       {[]string{newSecret}, sentAt.Add(time.Second - 1), body, "t=1767225600,v1=" + bodyByNew},
		"another zone":           {[]string{newSecret}, sentAt.In(time.FixedZone("", 3600)), body, "t=1767225600,v1=" + bodyByNew},
		"empty body":             {[]string{newSecret}, sentAt, "", "t=1767225600,v1=" + emptyByNew},
		"bytes that are no text": {[]string{newSecret}, time.Unix(0, 0), "\x00\xff.\n", "t=0,v1=" + binaryByNew},
	} {
		signer := newSigner(t, test.secrets...)
		for range 3 { // the first use makes the state, the second saves it, the third restores it
			if got := signer.Sign(test.t, []byte(test.body)); got != test.want {
				t.Errorf("%s: Sign = %s, want %s", name, got, test.want)
			}
		}
	}
}

// A signer that many use at once mixes nothing up.
func TestSignConcurrently(t *testing.T) {
	t.Parallel()
	signer := newSigner(t, newSecret, oldSecret)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			text := []byte(strings.Repeat("x", i))
			want := newSigner(t, newSecret, oldSecret).Sign(sentAt, text)
			for range 500 {
				if got := signer.Sign(sentAt, text); got != want {
					t.Errorf("Sign(%q) = %s, want %s", text, got, want)
				}
			}
		})
	}
	group.Wait()
}

// The signer and the verifier reject an incomplete secret, and their errors do not show it.
func TestSecrets(t *testing.T) {
	t.Parallel()
	for name, secrets := range map[string][]string{
		"none":            {},
		"empty":           {newSecret, ""},
		"prefix alone":    {"whsec_"},
		"space before":    {" whsec_hunter2"},
		"line break":      {"whsec_hunter2\n"},
		"carriage return": {"whsec_hunter2\r"},
	} {
		_, signerErr := signature.NewSigner(secrets...)
		_, verifierErr := signature.NewVerifier(signature.Config{Secrets: secrets})
		for _, err := range []error{signerErr, verifierErr} {
			if err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := signature.NewSigner(strings.Split(strings.Repeat(newSecret+" ", 9), " ")[:9]...); err == nil {
		t.Error("NewSigner takes 9 secrets")
	}
}

// Neither side shows its secrets in a log.
func TestSecretsDoNotPrint(t *testing.T) {
	t.Parallel()
	signer, verifier := newSigner(t, newSecret), newVerifier(t, sentAt, newSecret)
	signer.Sign(sentAt, []byte(body))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb+verb, signer, verifier); strings.Contains(text, "test_new") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}
