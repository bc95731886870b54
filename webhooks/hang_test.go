package webhooks_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// hanging is a store on a database that no longer responds once isHanging is set.
type hanging struct {
	*sqlstore.Store
	isHanging atomic.Bool
	ignores   bool          // deadlines
	released  chan struct{} // ends calls that ignore them
	calls     atomic.Int64  // that wait
}

func (s *hanging) wait(ctx context.Context) error {
	if !s.isHanging.Load() {
		return nil
	}
	s.calls.Add(1)
	defer s.calls.Add(-1)
	if s.ignores {
		<-s.released
		return context.DeadlineExceeded
	}
	<-ctx.Done()
	return ctx.Err()
}

func (s *hanging) Beat(ctx context.Context, node string, lease time.Duration) (webhookstore.Fleet, error) {
	if err := s.wait(ctx); err != nil {
		return webhookstore.Fleet{}, err
	}
	return s.Store.Beat(ctx, node, lease)
}

func (s *hanging) FinishAttempts(ctx context.Context, f webhookstore.Finish) (webhookstore.Finished, error) {
	if err := s.wait(ctx); err != nil {
		return webhookstore.Finished{}, err
	}
	return s.Store.FinishAttempts(ctx, f)
}

func (s *hanging) Unplanned(ctx context.Context, of []webhookstore.Backlog) (webhookstore.Unplanned, error) {
	if err := s.wait(ctx); err != nil {
		return webhookstore.Unplanned{}, err
	}
	return s.Store.Unplanned(ctx, of)
}

func (s *hanging) LeaveShards(ctx context.Context, node string) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.Store.LeaveShards(ctx, node)
}

func (s *hanging) Purge(ctx context.Context, p storage.Purge) (int, error) {
	if err := s.wait(ctx); err != nil {
		return 0, err
	}
	return s.Store.Purge(ctx, p)
}

// DLV-05: Run returns although the database hangs, even one whose driver ignores
// deadlines.
func TestStopWithHangingDatabase_DLV05(t *testing.T) {
	t.Parallel()
	for name, ignores := range map[string]bool{"that honors deadlines": false, "that ignores deadlines": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newHarness(t, webhooks.Config{})
				store := &hanging{Store: r.Store, ignores: ignores, released: make(chan struct{})}
				r.svc = r.sender(store)
				a := r.app(endpoint, "invoice.created")
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = r.svc.Run(ctx)
				}()
				time.Sleep(10 * time.Second)
				r.record(a.business, "invoice.created")
				time.Sleep(100 * time.Millisecond)
				store.isHanging.Store(true)
				time.Sleep(time.Minute)
				if n := store.calls.Load(); n == 0 || n > 4 {
					t.Errorf("%d calls hang", n)
				}
				began := time.Now()
				stop()
				<-ended
				if took := time.Since(began); took > 18*time.Second {
					t.Errorf("Run returned after %v", took)
				}
				close(store.released)
				store.isHanging.Store(false)
			})
		})
	}
}

// DLV-05: the dispatcher continues after the database has hung for longer than its lease.
func TestGoesOnAfterHang_DLV05(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, webhooks.Config{})
		store := &hanging{Store: r.Store}
		r.svc = r.sender(store)
		a := r.app(endpoint, "invoice.created")
		r.start()
		time.Sleep(10 * time.Second)
		store.isHanging.Store(true)
		r.record(a.business, "invoice.created")
		time.Sleep(time.Minute)
		store.isHanging.Store(false)
		time.Sleep(time.Minute)
		if d, _ := r.only(a); d.Status != partner.DeliveryDelivered {
			t.Errorf("the delivery is %s", d.Status)
		}
		r.halt()
	})
}
