package idempotency

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/idempotency/keystore"
)

// renewals is how often a lease is renewed within its own length, so that two
// renewals may fail before it ends.
const renewals = 3

// holdLease renews the lease of a key for as long as its handler runs, in real
// time, and calls lose when another request has taken the key. The function that
// it returns ends that, and returns when nothing of it is running any more. Most
// handlers are done before the first renewal.
func (i *Keys) holdLease(ctx context.Context, owner keystore.Hold, lose context.CancelCauseFunc) (end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(i.cfg.Lease / renewals)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if !i.renew(ctx, owner) {
				lose(keystore.ErrLost)
				return
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// renew reports whether the owner may still hold the key. After a storage error it
// reports true, and the next renewal decides.
func (i *Keys) renew(ctx context.Context, owner keystore.Hold) bool {
	err := i.cfg.Store.RenewKey(ctx, owner, time.Now().Add(i.cfg.Lease))
	if err != nil && !errors.Is(err, keystore.ErrLost) && ctx.Err() == nil {
		i.cfg.Logger.WarnContext(ctx, "idempotency: renewing a lease failed", "caller_id", owner.CallerID, "business_id", owner.BusinessID, "err", err)
	}
	return !errors.Is(err, keystore.ErrLost)
}
