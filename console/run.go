package console

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/clock"
)

// The janitor looks once an hour and takes away a few rows at a time, so that
// nobody waits for it.
const (
	purgeEvery = time.Hour
	purgeBatch = 200
)

// Run purges what is older than [AuditRetention] from the audit log, until ctx ends.
// Any number of nodes may run it. It returns the error of ctx.
func (c *Console) Run(ctx context.Context) error {
	for {
		now := c.cfg.Clock.Now()
		c.purge(ctx, now)
		if err := clock.Wait(ctx, c.cfg.Clock, now.Add(purgeEvery)); err != nil {
			return err
		}
	}
}

// purge goes on as long as batches come back full. A fault is logged and left for
// the next hour.
func (c *Console) purge(ctx context.Context, now time.Time) {
	for ctx.Err() == nil {
		n, err := c.cfg.Store.PurgeAudit(ctx, now.Add(-AuditRetention), purgeBatch)
		if err != nil && ctx.Err() == nil {
			c.cfg.Logger.ErrorContext(ctx, "console: purge", "err", err)
		}
		if err != nil || n < purgeBatch {
			return
		}
	}
}
