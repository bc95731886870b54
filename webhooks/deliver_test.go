package webhooks_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

const endpoint = "127.0.0.7"

// WH-02, SIG-01, VER-03: what arrives, to the letter.
func TestDelivery(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *harness) {
		a := r.app(endpoint, "invoice.created")
		e := r.record(a.business, "invoice.created")
		r.settle()
		d, attempts := r.only(a)
		got := r.net.posts(endpoint)
		if len(got) != 1 || d.Status != partner.DeliveryDelivered || d.Attempts != 1 || d.ResponseCode != http.StatusNoContent || len(attempts) != 1 {
			t.Fatalf("%d posts, delivery %+v, attempts %v", len(got), d, attempts)
		}
		want := map[string]any{
			"id": d.ID, "eventId": e.ID, "type": "invoice.created", "apiVersion": "2026-09-01", "businessId": a.business,
			"created": float64(e.CreatedAt.Unix()), "data": map[string]any{"id": "inv_1", "html": "<b>&"},
		}
		if diff := cmp.Diff(want, sent(t, got[0])); diff != "" {
			t.Errorf("body (-want +got)\n%s", diff)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/json", "X-Webhook-Id": d.ID, "X-Webhook-Event": "invoice.created", "X-Webhook-Event-Id": e.ID,
		} {
			if got := got[0].header[http.CanonicalHeaderKey(name)]; len(got) != 1 || got[0] != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		r.verify(got[0], a.secret)
	})
}

// verify holds a post against its signature, as a receiver does.
func (r *harness) verify(p post, secrets ...string) {
	r.t.Helper()
	verifier, err := signature.NewVerifier(signature.Config{Secrets: secrets, Now: func() time.Time { return p.at }, Tolerance: 2 * time.Second})
	r.must(err)
	if err := verifier.Verify(p.header.Get(signature.Header), p.body); err != nil {
		r.t.Errorf("signature %q: %v", p.header.Get(signature.Header), err)
	}
}

// DLV-01: the whole table of retries, and the sixth failure is the last. WH-03:
// the same bytes each time. SIG-01: a fresh t each time.
func TestRetries(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *harness) {
		a := r.app(endpoint, "invoice.created")
		r.net.handle(endpoint, response(http.StatusInternalServerError))
		r.record(a.business, "invoice.created")
		r.settle()
		for i, pause := range []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour} {
			d, attempts := r.only(a)
			due := attempts[i].StartedAt.Add(pause)
			if d.Status != partner.DeliveryRetrying || d.Attempts != i+1 || !d.NextAttemptAt.Equal(due) || d.LastError != "answered with status 500" {
				t.Fatalf("after attempt %d: %+v, want it due at %v", i+1, d, due)
			}
			r.advance(due.Sub(r.clock.Now()) - time.Millisecond)
			if got := len(r.net.posts(endpoint)); got != i+1 {
				t.Fatalf("%d posts before the next is due, want %d", got, i+1)
			}
			r.advance(time.Millisecond)
		}
		r.advance(29 * 24 * time.Hour)
		d, attempts := r.only(a)
		if d.Status != partner.DeliveryFailed || d.Attempts != 6 || len(attempts) != 6 || d.ResponseCode != 500 || !d.NextAttemptAt.IsZero() {
			t.Errorf("in the end: %+v, %d attempts", d, len(attempts))
		}
		posts := r.net.posts(endpoint)
		if len(posts) != 6 {
			t.Fatalf("%d posts, want 6", len(posts))
		}
		for i, p := range posts {
			if string(p.body) != string(posts[0].body) || p.header.Get("X-Webhook-Id") != d.ID || p.header.Get(signature.Header) != attempts[i].Signature {
				t.Errorf("attempt %d has another body, id or signature: %v", i+1, p.header)
			}
			r.verify(p, a.secret)
		}
	})
}
