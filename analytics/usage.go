package analytics

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Usage is what an app used in one business on one UTC day, for plans and bills.
type Usage struct {
	Day        time.Time // its beginning
	BusinessID string
	Calls      int64
	Errors     int64 // of Calls
	Bytes      int64 // of the bodies of the responses
}

// UsageQuery asks for the usage of an app in a period of days.
type UsageQuery struct {
	AppID    string
	From, To time.Time   // the first and the last day, in UTC
	After    UsageCursor // the last entry of the page before; zero: the first page
	Limit    int         // at least 1
}

// UsageCursor is the place of an entry in a list of usage.
type UsageCursor struct {
	Day        time.Time
	BusinessID string
}

// Cursor returns the place of the entry.
func (u Usage) Cursor() UsageCursor { return UsageCursor{u.Day, u.BusinessID} }

// UsageStore reads usage. It is the groups by business that [Store.AddCalls] adds.
type UsageStore interface {
	// Usage lists the groups by business of an app on the days From to To, both included, by
	// day and then by business, beginning behind After. From, To and the day of After are
	// beginnings of days.
	Usage(ctx context.Context, q UsageQuery) ([]Usage, error)
}

// usagePage is how many entries EachUsage reads at a time.
const usagePage = 500

// Usage lists the usage of an app in a period, by day and then by business. A day on which
// the app made no call for a business has no entry. It contains every call that this node
// has counted; what other nodes still hold in memory is missing.
//
// It is [ErrPeriod] when the period is empty or has more than [MaxDays]. Other errors are
// the store's.
func (c *Counter) Usage(ctx context.Context, q UsageQuery) ([]Usage, error) {
	q.From, q.To = startOfDay(q.From), startOfDay(q.To)
	switch {
	case q.AppID == "" || q.Limit < 1:
		return nil, errors.New("analytics: usage needs an app and a limit")
	case q.To.Before(q.From) || q.To.Sub(q.From) > time.Duration(MaxDays-1)*day:
		return nil, ErrPeriod
	}
	if q.After == (UsageCursor{}) {
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
func (c *Counter) EachUsage(ctx context.Context, appID string, from, to time.Time, do func(Usage) error) error {
	q := UsageQuery{AppID: appID, From: from, To: to, Limit: usagePage}
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
