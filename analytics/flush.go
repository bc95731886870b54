package analytics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// batchSize keeps transactions short: on SQLite nobody else writes meanwhile.
	batchSize = 200
	// batchTimeout ends an attempt to write a batch, in real time.
	batchTimeout = 10 * time.Second
)

// Flush writes everything that was counted before the call. After an error the
// counts that were not written are still there for the next flush; none is
// counted twice, also when it is not known whether a batch was written.
func (c *Counter) Flush(ctx context.Context) error {
	return errors.Join(c.flush(ctx, c.take), c.sendUses(ctx))
}

// flush writes what an earlier flush could not, and then what take takes. There
// is one at a time, since batches go in the order of their numbers.
func (c *Counter) flush(ctx context.Context, take func() []Bucket) error {
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
	at := c.cfg.Clock.Now()
	for buckets := range slices.Chunk(take(), batchSize) {
		c.number++
		c.unsent = append(c.unsent, Batch{Writer: c.writer, Number: c.number, At: at, Buckets: buckets})
	}
	return c.send(ctx)
}

// send writes the unsent batches, up to the first that fails. That one stays as
// it is: perhaps it was written and only the answer was lost.
func (c *Counter) send(ctx context.Context) error {
	for len(c.unsent) > 0 {
		if err := c.add(ctx, c.unsent[0]); err != nil {
			return fmt.Errorf("analytics: flush: %w", err)
		}
		c.waiting.Add(-int64(len(c.unsent[0].Buckets)))
		c.unsent[0] = Batch{} // the slice behind keeps nothing alive
		c.unsent = c.unsent[1:]
	}
	c.unsent = nil
	return nil
}

func (c *Counter) add(ctx context.Context, batch Batch) error {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	return c.cfg.Store.AddCalls(ctx, batch)
}

// tellDropped logs here and not where calls are dropped: once a flush instead of
// once a call, and by nobody who has a request to answer.
func (c *Counter) tellDropped(ctx context.Context) {
	dropped := c.dropped.Load()
	if dropped == c.told {
		return
	}
	c.cfg.Logger.WarnContext(ctx, "analytics: too many buckets wait in memory, calls were not counted",
		"calls", dropped-c.told, "buckets", c.waiting.Load())
	c.told = dropped
}
