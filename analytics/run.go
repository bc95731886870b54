package analytics

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/internal/janitor"
	"github.com/partnerkit/partnerkit/storage"
)

// Retention is the default of Config.Retention: a year that can be compared with the year
// before it, for more than a month.
const Retention = 400 * day

const (
	day = 24 * time.Hour

	purgeEvery = time.Hour

	// lastFlush is how long the flush at the end may take, in real time.
	lastFlush = 10 * time.Second
)

// Run writes what was counted, every [Config.FlushEvery] and once more when ctx
// has ended, and purges what is older than Config.Retention. Any number of nodes may
// run it. A flush that fails is logged and tried again at the next turn.
//
// End ctx after the last call was counted. Run then returns nil, or the error of the
// last flush: what it could not write is lost if the process ends too.
func (c *Counter) Run(ctx context.Context) error {
	var purges sync.WaitGroup
	purges.Go(func() { c.janitor().Run(ctx) })
	defer purges.Wait()
	for ctx.Err() == nil {
		now := c.cfg.Clock.Now()
		if err := c.Flush(ctx); err != nil && ctx.Err() == nil {
			c.cfg.Logger.ErrorContext(ctx, "analytics: flush failed, counts stay in memory", "buckets", c.waiting.Load(), "err", err)
		}
		c.trimWritten(ctx)
		c.wait(ctx, now.Add(c.cfg.FlushEvery))
	}
	return c.finish(ctx)
}

// wait returns when the clock shows due, memory fills up, or ctx ends.
func (c *Counter) wait(ctx context.Context, due time.Time) {
	for {
		changed := clock.Changed(c.cfg.Clock)
		left := due.Sub(c.cfg.Clock.Now())
		if left <= 0 {
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-changed:
			timer.Stop()
		case <-c.full:
			timer.Stop()
			return
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// finish flushes under a context of its own, since ctx has ended.
func (c *Counter) finish(ctx context.Context) error {
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFlush)
	defer cancel()
	if err := c.Flush(own); err != nil {
		return fmt.Errorf("%d buckets of calls are not written: %w", c.waiting.Load(), err)
	}
	return nil
}

// janitor deletes whole days of counts, so that no report begins with part of a day.
func (c *Counter) janitor() janitor.Janitor {
	return janitor.Janitor{
		Feature: "analytics", Every: purgeEvery, Clock: c.cfg.Clock, Logger: c.cfg.Logger,
		Tasks: func(now time.Time) []janitor.Task {
			purge := func(kind storage.PurgeKind, before time.Time) janitor.Task {
				return janitor.Purge(c.cfg.Store, storage.Purge{Kind: kind, Before: before})
			}
			return []janitor.Task{
				purge(storage.PurgeCalls, startOfDay(now).Add(-c.cfg.Retention)),
				purge(storage.PurgeCallGroups, startOfDay(now).Add(-GroupRetention)),
				purge(storage.PurgeUsage, startOfDay(now).Add(-c.cfg.Retention)),
				purge(storage.PurgeRequests, now.Add(-requestRetention)),
			}
		},
	}
}
