package webhooks_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// TST-01, WH-02: a test arrives signed, is retried and logged, and names no event.
func TestSentTest(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *harness) {
		a := r.app(endpoint, "invoice.paid")
		r.net.handle(endpoint, response(http.StatusInternalServerError))
		fired, err := r.svc.SendTest(t.Context(), a.ID, a.webhook.ID, "")
		r.must(err)
		r.settle()
		r.net.handle(endpoint, response(http.StatusOK))
		r.advance(time.Minute)
		d, attempts := r.only(a)
		if d.ID != fired.ID || d.Status != partner.DeliveryDelivered || d.Attempts != 2 || len(attempts) != 2 {
			t.Errorf("%+v, %d attempts", d, len(attempts))
		}
		posts := r.net.posts(endpoint)
		if len(posts) != 2 {
			t.Fatalf("%d posts, want 2", len(posts))
		}
		for _, p := range posts {
			_, hasEvent := p.header["X-Webhook-Event-Id"]
			if hasEvent || p.header.Get("X-Webhook-Id") != d.ID || p.header.Get("X-Webhook-Event") != "invoice.paid" || string(p.body) != string(fired.Body) {
				t.Errorf("sent %v %s", p.header, p.body)
			}
			r.verify(p, a.secret)
		}
	})
}

// SIG-02: on the wire, the new secret's signature first and the old one's second,
// until the old one has expired.
func TestSentDuringARotation(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *harness) {
		a := r.app(endpoint, "invoice.paid")
		fresh, expires, err := r.svc.RotateSecret(t.Context(), a.ID, a.webhook.ID)
		r.must(err)
		signatures := func() (p post, values []string) {
			t.Helper()
			r.record(a.business, "invoice.paid")
			r.settle()
			posts := r.net.posts(endpoint)
			p = posts[len(posts)-1]
			return p, strings.Split(p.header.Get(signature.Header), ",v1=")
		}
		r.advance(expires.Sub(r.clock.Now()) - time.Minute)
		p, values := signatures()
		if len(values) != 3 {
			t.Fatalf("%d signatures, want 2: %q", len(values)-1, values)
		}
		r.verify(p, fresh)
		r.verify(p, a.secret)
		for i, secret := range []string{fresh, a.secret} {
			alone := p
			alone.header = http.Header{signature.Header: {values[0] + ",v1=" + values[i+1]}}
			r.verify(alone, secret)
		}
		r.advance(time.Minute)
		p, values = signatures()
		if len(values) != 2 {
			t.Errorf("%d signatures after the overlap: %q", len(values)-1, values)
		}
		r.verify(p, fresh)
	})
}

// RDL-01, WH-03: sent again, the same id, event and bytes, with a fresh signature
// and six attempts of its own.
func TestSentAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *harness) {
		a := r.app(endpoint, "invoice.paid")
		r.net.handle(endpoint, response(http.StatusInternalServerError))
		r.record(a.business, "invoice.paid")
		r.settle()
		for range 2 {
			for range webhooks.MaxAttempts {
				r.advance(6 * time.Hour)
			}
			d, _ := r.only(a)
			if d.Status != partner.DeliveryFailed || d.Attempts != webhooks.MaxAttempts {
				t.Fatalf("after all attempts: %+v", d)
			}
			_, err := r.svc.Redeliver(t.Context(), a.ID, a.webhook.ID, d.ID)
			r.must(err)
			r.settle()
		}
		r.net.handle(endpoint, response(http.StatusOK))
		r.advance(time.Minute)
		d, attempts := r.only(a)
		posts := r.net.posts(endpoint)
		if d.Status != partner.DeliveryDelivered || d.Attempts != 2 || len(attempts) != 14 || len(posts) != 14 {
			t.Fatalf("in the end: %+v, %d attempts, %d posts", d, len(attempts), len(posts))
		}
		for i, p := range posts {
			if string(p.body) != string(posts[0].body) || p.header.Get("X-Webhook-Id") != d.ID || p.header.Get("X-Webhook-Event-Id") != d.EventID {
				t.Errorf("attempt %d: %v %s", i+1, p.header, p.body)
			}
			if i > 0 && p.header.Get(signature.Header) == posts[i-1].header.Get(signature.Header) {
				t.Errorf("attempt %d has the signature of the one before", i+1)
			}
			r.verify(p, a.secret)
		}
	})
}
