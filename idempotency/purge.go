package idempotency

import (
	"context"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/storage"
)

// Old keys are deleted once a minute in small batches, so that requests do not wait. An
// expired key counts as new even before it is deleted.
const (
	purgeEvery = time.Minute
	purgeBatch = 200
)

// Run removes the keys that are older than [Config].Lifetime, until ctx ends, and
// then returns nil. Any number of nodes may run it. After an error, which is
// logged, Run tries again in the next minute.
func (i *Keys) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		now := i.cfg.Clock.Now()
		if _, err := i.Purge(ctx); err != nil && ctx.Err() == nil {
			i.cfg.Logger.ErrorContext(ctx, "idempotency: purge failed", "err", err)
		}
		_ = clock.Wait(ctx, i.cfg.Clock, now.Add(purgeEvery)) // its error is the end of ctx
	}
	return nil
}

// Purge removes the keys that are older than [Config].Lifetime now, in batches, and
// returns how many: for hosts with a janitor of their own.
func (i *Keys) Purge(ctx context.Context) (int, error) {
	at, total := i.now(), 0
	for ctx.Err() == nil {
		n, err := i.cfg.Store.Purge(ctx, storage.Purge{Kind: storage.PurgeKeys, Before: at.Now, Real: at.Real, Limit: purgeBatch})
		total += n
		if err != nil {
			return total, fmt.Errorf("idempotency: remove old keys: %w", err)
		}
		if n < purgeBatch {
			return total, nil
		}
	}
	return total, ctx.Err()
}
