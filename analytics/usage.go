package analytics

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
)

// usagePage is how many entries EachUsage reads at a time.
const usagePage = 500

// Usage lists the usage of an app in a period, by day and then by business. A day on which
// the app made no call for a business has no entry. It contains every call that this node
// has counted; what other nodes still hold in memory is missing.
//
// It is [ErrPeriod] when the period is empty or has more than [MaxDays]. Other errors are
// the store's.
func (c *Counter) Usage(ctx context.Context, q callstore.UsageQuery) ([]callstore.Usage, error) {
	q.From, q.To = startOfDay(q.From), startOfDay(q.To)
	switch {
	case q.AppID == "" || q.Limit < 1:
		return nil, errors.New("analytics: usage needs an app and a limit")
	case q.To.Before(q.From) || q.To.Sub(q.From) > time.Duration(MaxDays-1)*day:
		return nil, ErrPeriod
	}
	if q.After == (callstore.UsageCursor{}) {
		if err := c.flush(ctx, func() taken { return c.takeOf(q.AppID) }); err != nil {
			return nil, err
		}
	}
	found, err := c.cfg.Store.Usage(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("analytics: %w", err)
	}
	return found, nil
}

// EachUsage calls do with every entry of a period, in the order of [Counter.Usage], until do
// fails. It reads a few at a time. Its error is that of do, or one of Usage.
func (c *Counter) EachUsage(ctx context.Context, appID string, from, to time.Time, do func(callstore.Usage) error) error {
	q := callstore.UsageQuery{AppID: appID, From: from, To: to, Limit: usagePage}
	for {
		found, err := c.Usage(ctx, q)
		if err != nil {
			return err
		}
		for _, one := range found {
			if err := do(one); err != nil {
				return err
			}
		}
		if len(found) < q.Limit {
			return nil
		}
		q.After = found[len(found)-1].Cursor()
	}
}
