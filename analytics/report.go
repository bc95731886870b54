package analytics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/internal/stamp"
)

// MaxDays is how far back a report goes, today included: as long as all of its
// days are kept.
const MaxDays = int(Retention / day)

// ErrPeriod means that a report was requested for an empty period or for more than
// [MaxDays].
var ErrPeriod = fmt.Errorf("analytics: a report covers 1 to %d days", MaxDays)

// Report is the calls of an app, day by day, as the console shows them.
type Report struct {
	Totals Figures `json:"totals"`
	Days   []Day   `json:"days"` // oldest first, the last one is today
}

// Figures are counters of calls, and how long the calls took.
type Figures struct {
	callstore.Counts
	// P50MS and P95MS are the median and the 95th percentile of the durations, in
	// milliseconds; see [callstore.Latency.Percentile]. They are 0 if there were no calls.
	P50MS float64 `json:"p50Ms,omitempty"`
	P95MS float64 `json:"p95Ms,omitempty"`
}

func newFigures(counts callstore.Counts, latency callstore.Latency) Figures {
	inMS := func(percent int) float64 {
		return float64(latency.Percentile(percent).Round(100*time.Microsecond)) / float64(time.Millisecond)
	}
	return Figures{Counts: counts, P50MS: inMS(50), P95MS: inMS(95)}
}

// Day is a UTC day of a [Report].
type Day struct {
	Date string `json:"date"` // YYYY-MM-DD
	Figures
}

// Hour is a UTC hour of a chart.
type Hour struct {
	Start time.Time `json:"start"`
	callstore.Counts
	Latency callstore.Latency `json:"latency"` // see callstore.Latency
}

// MarshalJSON implements json.Marshaler. Start has milliseconds.
func (h Hour) MarshalJSON() ([]byte, error) {
	type members Hour
	return json.Marshal(struct {
		Start stamp.Time `json:"start"`
		members
	}{stamp.Of(h.Start), members(h)})
}

// Report returns the calls of an app on the last days, today included; days
// without calls are there as zeros. It contains every call that this node has
// counted; what other nodes still hold in memory is missing.
//
// It is [ErrPeriod] when days is out of bounds. Other errors are the store's.
func (c *Counter) Report(ctx context.Context, appID string, days int) (Report, error) {
	if days < 1 || days > MaxDays {
		return Report{}, ErrPeriod
	}
	today := startOfDay(c.cfg.Clock.Now())
	first := today.AddDate(0, 0, 1-days)
	buckets, err := c.read(ctx, appID, first, today.AddDate(0, 0, 1))
	if err != nil {
		return Report{}, err
	}
	r := Report{Days: make([]Day, days)}
	for i := range r.Days {
		r.Days[i].Date = first.AddDate(0, 0, i).Format(time.DateOnly)
	}
	all, latencies := callstore.Latency{}, make([]callstore.Latency, days)
	for _, b := range buckets {
		i := b.Hour.Sub(first) / day
		r.Totals.Add(b.Counts)
		r.Days[i].Add(b.Counts)
		all.Add(b.Latency)
		latencies[i].Add(b.Latency)
	}
	r.Totals = newFigures(r.Totals.Counts, all)
	for i := range r.Days {
		r.Days[i].Figures = newFigures(r.Days[i].Counts, latencies[i])
	}
	return r, nil
}

// Hours returns the calls of an app in each hour that has a part in the time from
// from to to, oldest first; hours without calls are there as zeros. What it
// contains and its errors are those of [Counter.Report].
func (c *Counter) Hours(ctx context.Context, appID string, from, to time.Time) ([]Hour, error) {
	first := time.Unix(hourOf(from), 0).UTC()
	end := time.Unix(hourOf(to.Add(time.Hour-1)), 0).UTC()
	if !from.Before(to) || end.Sub(first) > Retention {
		return nil, ErrPeriod
	}
	buckets, err := c.read(ctx, appID, first, end)
	if err != nil {
		return nil, err
	}
	hours := make([]Hour, end.Sub(first)/time.Hour)
	for i := range hours {
		hours[i].Start = first.Add(time.Duration(i) * time.Hour)
	}
	for _, b := range buckets {
		h := &hours[b.Hour.Sub(first)/time.Hour]
		h.Counts, h.Latency = b.Counts, b.Latency
	}
	return hours, nil
}

// read flushes first, so that a developer sees the call just made. It flushes only the
// app's own buckets, so that frequent reads do not make the node write all counters.
func (c *Counter) read(ctx context.Context, appID string, from, to time.Time) ([]callstore.Bucket, error) {
	if appID == "" {
		return nil, errors.New("analytics: a report needs an app")
	}
	if err := c.flush(ctx, func() taken { return c.takeOf(appID) }); err != nil {
		return nil, err
	}
	buckets, err := c.cfg.Store.Calls(ctx, appID, from, to)
	if err != nil {
		return nil, fmt.Errorf("analytics: %w", err)
	}
	return buckets, nil
}

func startOfDay(t time.Time) time.Time {
	year, month, date := t.UTC().Date()
	return time.Date(year, month, date, 0, 0, 0, 0, time.UTC)
}
