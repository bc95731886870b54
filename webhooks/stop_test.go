package webhooks_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// forgetful is a store that cannot record outcomes while it is down.
type forgetful struct {
	*sqlstore.Store
	isDown atomic.Bool
}

func (s *forgetful) FinishAttempts(ctx context.Context, f webhookstore.Finish) (webhookstore.Finished, error) {
	if s.isDown.Load() {
		return webhookstore.Finished{}, errors.New("the database is down")
	}
	return s.Store.FinishAttempts(ctx, f)
}

// DLV-05: what a dispatcher could not record before it stopped is sent again, also
// by the same service.
func TestStopWithoutDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, webhooks.Config{})
		store := &forgetful{Store: r.Store}
		r.svc = r.sender(store)
		a := r.app(endpoint, "invoice.created")
		store.isDown.Store(true)
		r.start()
		r.record(a.business, "invoice.created")
		r.settle()
		r.halt()
		store.isDown.Store(false)
		r.start()
		r.settle()
		if d, _ := r.only(a); d.Status != partner.DeliveryDelivered || len(r.net.posts(endpoint)) != 2 {
			t.Errorf("%s after %d posts", d.Status, len(r.net.posts(endpoint)))
		}
	})
}
