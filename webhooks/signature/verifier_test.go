package signature_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// SIG-03: any one v1 by any of the receiver's secrets; SIG-02: old and new
// receivers both live through a rotation.
func TestVerifyAnySecret(t *testing.T) {
	t.Parallel()
	const other = "whsec_test_other"
	for _, test := range []struct {
		signed, known []string
		want          error
	}{
		{[]string{newSecret}, []string{newSecret}, nil},
		{[]string{newSecret, oldSecret}, []string{newSecret}, nil},
		{[]string{newSecret, oldSecret}, []string{oldSecret}, nil},
		{[]string{newSecret, oldSecret}, []string{other, oldSecret}, nil},
		{[]string{oldSecret}, []string{newSecret, oldSecret}, nil},
		{[]string{newSecret}, []string{oldSecret}, signature.ErrNoMatch},
		{[]string{newSecret, oldSecret}, []string{other}, signature.ErrNoMatch},
		{[]string{newSecret}, []string{newSecret + "x"}, signature.ErrNoMatch},
	} {
		err := newVerifier(t, sentAt, test.known...).Verify(sign(t, test.signed...), []byte(body))
		if !errors.Is(err, test.want) {
			t.Errorf("signed by %v, known %v: %v, want %v", test.signed, test.known, err, test.want)
		}
	}
}

// SIG-03: every byte of the raw body is checked.
func TestVerifyChangedBody(t *testing.T) {
	t.Parallel()
	verifier, header := newVerifier(t, sentAt, newSecret), sign(t, newSecret)
	for name, changed := range map[string]string{
		"cut":         body[:len(body)-1],
		"longer":      body + "\n",
		"reformatted": strings.ReplaceAll(body, ",", ", "),
		"changed":     strings.Replace(body, "12.50", "12.51", 1),
		"empty":       "",
		"dot moved":   "0." + body,
	} {
		if err := verifier.Verify(header, []byte(changed)); !errors.Is(err, signature.ErrNoMatch) {
			t.Errorf("%s: %v, want ErrNoMatch", name, err)
		}
	}
	moved := strings.Replace(header, "t=1767225600", "t=1767225601", 1)
	if err := verifier.Verify(moved, []byte(body)); !errors.Is(err, signature.ErrNoMatch) {
		t.Errorf("another t: %v, want ErrNoMatch", err)
	}
}

// SIG-03: 300 seconds both ways, bounds included.
func TestVerifyTolerance(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]error{
		0:                           nil,
		300 * time.Second:           nil,
		-300 * time.Second:          nil,
		300*time.Second + 1:         signature.ErrTooOld,
		-300*time.Second - 1:        signature.ErrTooNew,
		200 * 365 * 24 * time.Hour:  signature.ErrTooOld,
		-200 * 365 * 24 * time.Hour: signature.ErrTooNew,
	} {
		if err := newVerifier(t, sentAt.Add(after), newSecret).Verify(sign(t, newSecret), []byte(body)); !errors.Is(err, want) {
			t.Errorf("%v after it was signed: %v, want %v", after, err, want)
		}
	}
	farAway := time.Unix(999_999_999_999, 0)
	if err := newVerifier(t, sentAt, newSecret).Verify(newSigner(t, newSecret).Sign(farAway, nil), nil); !errors.Is(err, signature.ErrTooNew) {
		t.Errorf("the largest t: %v, want ErrTooNew", err)
	}
}

// SIG-03: an error never says more than its holder could know: without a valid
// signature, nothing about the time.
func TestVerifySignatureBeforeTime(t *testing.T) {
	t.Parallel()
	for _, now := range []time.Time{sentAt.Add(time.Hour), sentAt.Add(-time.Hour)} {
		err := newVerifier(t, now, oldSecret).Verify(sign(t, newSecret), []byte(body))
		if !errors.Is(err, signature.ErrNoMatch) || errors.Is(err, signature.ErrTooOld) || errors.Is(err, signature.ErrTooNew) {
			t.Errorf("at %v: %v, want ErrNoMatch alone", now, err)
		}
	}
}

func TestNewVerifier(t *testing.T) {
	t.Parallel()
	secrets := []string{newSecret}
	for _, cfg := range []signature.Config{{}, {Secrets: secrets, Tolerance: -1}, {Secrets: secrets, MaxBody: -1}} {
		if _, err := signature.NewVerifier(cfg); err == nil {
			t.Errorf("NewVerifier takes %+v", cfg)
		}
	}
	verifier, err := signature.NewVerifier(signature.Config{Secrets: secrets, Tolerance: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	signer := newSigner(t, newSecret)
	if err := verifier.Verify(signer.Sign(time.Now().Add(-30*time.Minute), nil), nil); err != nil {
		t.Errorf("within a tolerance of an hour, by the real time: %v", err)
	}
	if err := verifier.Verify(signer.Sign(time.Now().Add(-2*time.Hour), nil), nil); !errors.Is(err, signature.ErrTooOld) {
		t.Errorf("outside of it: %v, want ErrTooOld", err)
	}
}
