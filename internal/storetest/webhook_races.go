package storetest

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// webhookRaceCases: of any number at once, as many as may succeed do.
var webhookRaceCases = []testCase[partnerkit.Store]{
	// WH-01: no more webhooks than an app may have.
	{"Race to create webhooks", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newWebhook(t, e)
			var added, refused atomic.Int64
			testdb.Race(contenders, func(int) {
				switch err := e.CreateWebhook(t.Context(), f.another(noon), maxWebhooks); {
				case err == nil:
					added.Add(1)
				case errors.Is(err, webhookstore.ErrTooMany):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
			if added.Load() != maxWebhooks-1 || refused.Load() != contenders-maxWebhooks+1 {
				t.Fatalf("%d added, %d refused", added.Load(), refused.Load())
			}
		}
	}},
	// SIG-02: rotations come one after the other; the last two secrets stay.
	{"Race to rotate a secret", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newWebhook(t, e)
			testdb.Race(contenders, func(i int) {
				_, err := e.UpdateWebhook(t.Context(), f.app.ID, f.webhook.ID, func(w partner.Webhook) (partner.Webhook, error) {
					w.Previous, w.Secret, w.PreviousExpiresAt = w.Secret, append(slices.Clone(w.Secret), byte(i)), noon
					return w, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
			got := get[partner.Webhook](t)(oneWebhook(e)(t.Context(), f.app.ID, f.webhook.ID))
			if kept := len(got.Secret) - len(f.webhook.Secret); kept != contenders || !slices.Equal(got.Previous, got.Secret[:len(got.Secret)-1]) {
				t.Fatalf("%d of %d rotations: secret %v, previous %v", kept, contenders, got.Secret, got.Previous)
			}
		}
	}},
	// RDL-01, RDL-02: one winner; the others see it queued.
	{"Race to redeliver", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newWebhook(t, e)
			d := f.failed(t, noon)
			var won, refused atomic.Int64
			testdb.Race(contenders, func(i int) {
				switch _, err := e.Redeliver(t.Context(), f.again(d, noon.Add(time.Duration(i)*time.Second))); {
				case err == nil:
					won.Add(1)
				case errors.Is(err, errGate):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
			if won.Load() != 1 || refused.Load() != contenders-1 || len(f.inQueue(t)) != 1 {
				t.Fatalf("%d won, %d were refused, %d places in the queue", won.Load(), refused.Load(), len(f.inQueue(t)))
			}
		}
	}},
	// DLV-03, RDL-03: either the redelivery was first, or it is rejected, without an
	// internal error or a deadlock.
	{"Race to close a gate", func(t *testing.T, e partnerkit.Store) {
		for name, shut := range closers {
			for range max(1, rounds()/len(closers)) {
				f := newWebhook(t, e)
				ds := []partner.Delivery{f.failed(t, noon), f.failed(t, noon), f.failed(t, noon)}
				var queued atomic.Int64
				testdb.Race(len(ds)+1, func(i int) {
					if i == len(ds) {
						if err := shut(t, f); err != nil {
							t.Errorf("%s: %v", name, err)
						}
						return
					}
					switch _, err := e.Redeliver(t.Context(), f.again(ds[i], noon)); {
					case err == nil:
						queued.Add(1)
					case !isRefused(err):
						t.Errorf("against %q: %v", name, err)
					}
				})
				if n := len(f.inQueue(t)); n != int(queued.Load()) {
					t.Errorf("%s: %d succeeded and %d are queued", name, queued.Load(), n)
				}
			}
		}
	}},
}

// webhookLockCases: nothing is queued after a gate was closed. An operation that queues
// deliveries locks the gates until it has committed, and waits for an operation that closes one.
var webhookLockCases = []testCase[*Env]{
	{"Closing a gate waits for a redelivery", func(t *testing.T, e *Env) {
		for name, shut := range closers {
			f := newWebhook(t, e)
			d := f.failed(t, noon)
			tx, err := e.BeginTx(t.Context())
			must(t, err)
			get[[]partner.Delivery](t)(e.WithTx(tx).Redeliver(t.Context(), f.again(d, noon)))
			wantWaits(t, name, tx.Commit, func() error { return shut(t, f) }, nil)
		}
	}},
	{"Closing a gate waits for a test", func(t *testing.T, e *Env) {
		for _, name := range []string{"suspend the app", "deactivate the app", "switch the webhook off", "delete the webhook"} {
			f := newWebhook(t, e)
			_, fire := f.test(noon)
			tx, err := e.BeginTx(t.Context())
			must(t, err)
			get[partner.Delivery](t)(e.WithTx(tx).QueueTest(t.Context(), f.app.ID, f.webhook.ID, fire))
			wantWaits(t, name, tx.Commit, func() error { return closers[name](t, f) }, nil)
		}
	}},
	{"A redelivery waits for a gate that is closing", func(t *testing.T, e *Env) {
		for name, shut := range closers {
			f := newWebhook(t, e)
			d := f.failed(t, noon)
			tx, err := e.BeginTx(t.Context())
			must(t, err)
			closing := *f.oauthFixture
			closing.Store = e.WithTx(tx)
			must(t, shut(t, &webhookFixture{oauthFixture: &closing, webhook: f.webhook}))
			wantWaits(t, name, tx.Commit, func() error {
				_, err := e.Redeliver(t.Context(), f.again(d, noon))
				return err
			}, isRefused)
		}
	}},
}

// wantWaits starts act, which must not return before commit has run. Then right must
// accept the error of act; a nil right means that act must succeed.
func wantWaits(t *testing.T, name string, commit func(context.Context) error, act func() error, right func(error) bool) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- act() }()
	select {
	case err := <-done:
		t.Errorf("%s: it did not wait: %v", name, err)
		done <- err
	case <-time.After(20 * time.Millisecond): // long enough to be wrong in
	}
	must(t, commit(t.Context()))
	if err := <-done; right == nil && err != nil || right != nil && !right(err) {
		t.Errorf("%s: %v", name, err)
	}
}
