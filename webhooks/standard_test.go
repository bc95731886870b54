package webhooks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/webhooks"
)

// DLV-12: a delivery carries the number of its event in its business, a test none.
func TestSequence_DLV12(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *harness) {
		a := r.app(endpoint, "invoice.created")
		for range 3 {
			r.record(a.business, "invoice.created")
			r.settle()
		}
		_, err := r.svc.SendTest(t.Context(), a.ID, a.webhook.ID, "")
		r.must(err)
		r.settle()
		posts := r.net.posts(endpoint)
		if len(posts) != 4 {
			t.Fatalf("%d posts, want 4", len(posts))
		}
		var last int64
		for _, p := range posts[:3] {
			got, err := strconv.ParseInt(p.header.Get("X-Webhook-Sequence"), 10, 64)
			if err != nil || got <= last {
				t.Errorf("X-Webhook-Sequence: %q after %d", p.header.Get("X-Webhook-Sequence"), last)
			}
			last = got
		}
		if got, ok := posts[3].header["X-Webhook-Sequence"]; ok {
			t.Errorf("a test has the sequence %q", got)
		}
	})
}

// DLV-12: the option adds the headers of Standard Webhooks beside ours; during a rotation
// both secrets sign, the new one first.
func TestStandardHeaders_DLV12(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, webhooks.Config{Options: webhooks.Options{StandardHeaders: true}})
		r.start()
		a := r.app(endpoint, "invoice.created")
		r.record(a.business, "invoice.created")
		r.settle()
		r.wantStandard(r.net.posts(endpoint)[0], a.secret)
		fresh, _, err := r.svc.RotateSecret(t.Context(), a.ID, a.webhook.ID)
		r.must(err)
		r.advance(time.Minute)
		_, err = r.svc.SendTest(t.Context(), a.ID, a.webhook.ID, "")
		r.must(err)
		r.settle()
		r.wantStandard(r.net.posts(endpoint)[1], fresh, a.secret)
	})
}

// SIG-05: a secret of the host's is the key itself, even if it looks like one that was made here.
func TestStandardKeyOfAGivenSecret_SIG05(t *testing.T) {
	t.Parallel()
	bytes := []byte("32 bytes that another server made")
	given := "whsec_" + base64.StdEncoding.EncodeToString(bytes)
	for name, test := range map[string]struct {
		isStandard bool
		key        []byte
	}{"as a text": {false, []byte(given)}, "of Standard Webhooks": {true, bytes}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newHarness(t, webhooks.Config{Options: webhooks.Options{StandardHeaders: true}})
				r.start()
				a := r.app(endpoint, "invoice.created")
				hook, secret, err := r.svc.Create(t.Context(), webhooks.NewWebhook{
					AppID: a.ID, URL: "http://127.0.0.8/hook", Events: []string{"invoice.created"}, Secret: given, StandardSecret: test.isStandard,
				})
				r.must(err)
				_, err = r.svc.SendTest(t.Context(), a.ID, hook.ID, "")
				r.must(err)
				r.settle()
				p := r.net.posts("127.0.0.8")[0]
				if got, want := p.header.Get("webhook-signature"), " v1,"+standardSignature(p, test.key); secret != given || " "+got != want {
					t.Errorf("webhook-signature: %q, want %q", got, want[1:])
				}
			})
		})
	}
}

// SIG-05: a secret that claims the form of Standard Webhooks has it.
func TestStandardSecretIsChecked_SIG05(t *testing.T) {
	t.Parallel()
	r := newHarness(t, webhooks.Config{})
	for _, secret := range []string{"", "whsec_", "whsec_interop", "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 16)), base64.StdEncoding.EncodeToString(make([]byte, 32))} {
		err := r.svc.Check(webhooks.NewWebhook{URL: "https://hook.example/", Secret: secret, StandardSecret: true})
		if err == nil || !strings.Contains(err.Error(), "secret must be whsec_ and the base64 of 24 to 64 bytes") {
			t.Errorf("%q: %v", secret, err)
		}
	}
}

// standardSignature computes a signature as the specification of Standard Webhooks describes it.
func standardSignature(p post, key []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(p.header.Get("webhook-id") + "." + p.header.Get("webhook-timestamp") + "." + string(p.body)))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// wantStandard checks the headers with the keys that secrets stand for (SIG-05).
func (r *harness) wantStandard(p post, secrets ...string) {
	r.t.Helper()
	id, at := p.header.Get("webhook-id"), p.header.Get("webhook-timestamp")
	want := ""
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		r.must(err)
		want += " v1," + standardSignature(p, key)
	}
	if got := p.header.Get("webhook-signature"); got != want[1:] {
		r.t.Errorf("webhook-signature: %q, want %q", got, want[1:])
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if off := p.at.Sub(time.Unix(seconds, 0)); err != nil || off < 0 || off > 2*time.Second {
		r.t.Errorf("webhook-timestamp: %q at %v", at, p.at)
	}
	if id == "" || id != p.header.Get("X-Webhook-Id") {
		r.t.Errorf("webhook-id: %q, want that of the delivery, %q", id, p.header.Get("X-Webhook-Id"))
	}
	r.verify(p, secrets[0])
}

// Without the option none of these headers is sent.
func TestNoStandardHeaders_DLV12(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *harness) {
		a := r.app(endpoint, "invoice.created")
		r.record(a.business, "invoice.created")
		r.settle()
		for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
			if got, ok := r.net.posts(endpoint)[0].header[name]; ok {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
}
