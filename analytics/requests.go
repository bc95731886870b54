package analytics

import (
	"context"
	"fmt"

	"github.com/partnerkit/partnerkit/analytics/callstore"
)

// The request log of an app has the calls of the last requestRetention, and at most
// [MaxRequests] of them.
const (
	requestRetention = 7 * day
	MaxRequests      = 10_000
)

const (
	// trimAfter is after how many new entries of an app its oldest are deleted. A reader
	// sees at most MaxRequests anyway.
	trimAfter = 1_000
	trimBatch = 500
)

// Requests lists the calls of an app, newest first, every one included that this node has
// seen. What other nodes still hold in memory is missing, and so is what is older than
// requestRetention.
func (c *Counter) Requests(ctx context.Context, q callstore.RequestQuery) ([]callstore.Request, error) {
	if err := c.flush(ctx, func() taken { return c.takeOf(q.AppID) }); err != nil {
		return nil, err
	}
	if q.Before == "" {
		if err := c.trim(ctx, q.AppID); err != nil {
			return nil, err
		}
	}
	if kept := c.cfg.Clock.Now().Add(-requestRetention); q.Since.Before(kept) {
		q.Since = kept
	}
	requests, err := c.cfg.Store.Requests(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("analytics: %w", err)
	}
	return requests, nil
}

// trim deletes what is too much of one app.
func (c *Counter) trim(ctx context.Context, appID string) error {
	for {
		n, err := c.cfg.Store.TrimRequests(ctx, appID, MaxRequests, trimBatch)
		if err != nil {
			return fmt.Errorf("analytics: %w", err)
		}
		if n < trimBatch {
			return nil
		}
	}
}

// trimWritten trims the apps of which this node has written many entries since the last
// time. Errors are logged and left for later.
func (c *Counter) trimWritten(ctx context.Context) {
	c.flushing <- struct{}{}
	var due []string
	for appID, n := range c.written {
		if n >= trimAfter {
			due = append(due, appID)
			delete(c.written, appID)
		}
	}
	<-c.flushing
	for _, appID := range due {
		if err := c.trim(ctx, appID); err != nil && ctx.Err() == nil {
			c.cfg.Logger.ErrorContext(ctx, "analytics: trimming the request log failed", "app", appID, "err", err)
		}
	}
}
