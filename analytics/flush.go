package analytics

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
)

const (
	// batchSize is the number of rows of a kind in a batch. It keeps transactions short: on
	// SQLite other writers wait.
	batchSize = 200
	// batchTimeout ends an attempt to write a batch, in real time.
	batchTimeout = 10 * time.Second
)

// Flush writes everything that was counted before the call. After an error the counts that
// were not written are still there for the next flush; none is counted twice, even if it is
// unknown whether a batch was written.
func (c *Counter) Flush(ctx context.Context) error {
	return c.flush(ctx, c.take)
}

// flush writes what an earlier flush could not, and then what take takes. There
// is one at a time, since batches go in the order of their numbers.
func (c *Counter) flush(ctx context.Context, take func() taken) error {
	select {
	case c.flushing <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("analytics: flush: %w", ctx.Err())
	}
	defer func() { <-c.flushing }()
	c.tellDropped(ctx)
	if err := c.send(ctx); err != nil {
		return err
	}
	found := take()
	for len(found.buckets)+len(found.groups)+len(found.requests) > 0 {
		c.batch(callstore.Batch{Buckets: cut(&found.buckets), Groups: cut(&found.groups), Requests: cut(&found.requests)})
	}
	for ids := slices.Sorted(maps.Keys(found.uses)); len(ids) > 0; {
		uses := map[string]time.Time{}
		for _, id := range cut(&ids) {
			uses[id] = found.uses[id]
		}
		c.batch(callstore.Batch{Uses: uses})
	}
	return c.send(ctx)
}

// batch adds the next batch to the unsent ones.
func (c *Counter) batch(b callstore.Batch) {
	c.number++
	b.Writer, b.Number, b.At = c.writer, c.number, c.cfg.Clock.Now()
	c.unsent = append(c.unsent, b)
}

// cut takes as many from the front of a list as a batch may have.
func cut[T any](all *[]T) []T {
	n := min(len(*all), batchSize)
	part := (*all)[:n:n]
	*all = (*all)[n:]
	return part
}

// send writes the unsent batches, up to the first that fails. That one stays as
// it is: perhaps it was written and only the response was lost.
func (c *Counter) send(ctx context.Context) error {
	for len(c.unsent) > 0 {
		if err := c.add(ctx, c.unsent[0]); err != nil {
			return fmt.Errorf("analytics: flush: %w", err)
		}
		c.waiting.Add(-int64(len(c.unsent[0].Buckets)))
		c.forgetUses(c.unsent[0].Uses)
		c.grouped.Add(-int64(len(c.unsent[0].Groups)))
		c.logged.Add(-int64(len(c.unsent[0].Requests)))
		for _, r := range c.unsent[0].Requests {
			c.written[r.AppID]++
		}
		c.unsent[0] = callstore.Batch{} // the slice behind keeps nothing alive
		c.unsent = c.unsent[1:]
	}
	c.unsent = nil
	return nil
}

func (c *Counter) add(ctx context.Context, batch callstore.Batch) error {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	return c.cfg.Store.AddCalls(ctx, batch)
}

// tellDropped logs how many calls were dropped. It runs once per flush instead of once
// per dropped call, so that counting a call never waits for the logger.
func (c *Counter) tellDropped(ctx context.Context) {
	if unlogged := c.unlogged.Load(); unlogged != c.toldUnlogged {
		c.cfg.Logger.WarnContext(ctx, "analytics: request log entries dropped: too many in memory", "calls", unlogged-c.toldUnlogged)
		c.toldUnlogged = unlogged
	}
	dropped := c.dropped.Load()
	if dropped == c.told {
		return
	}
	c.cfg.Logger.WarnContext(ctx, "analytics: calls dropped: too many buckets or groups in memory",
		"calls", dropped-c.told, "buckets", c.waiting.Load())
	c.told = dropped
}
