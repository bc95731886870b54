package analytics

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/internal/text"
)

// GroupRetention is how long groups by route and by status are kept. Those by business are
// the [callstore.Usage], which is kept for Config.Retention.
const GroupRetention = 90 * day

// maxGroups is how many groups a report has: those with the most calls.
const maxGroups = 100

// groupKey names a group in memory. A status is not made a text while a request waits.
type groupKey struct {
	appID  string
	day    int64 // Unix seconds of its beginning
	by     callstore.GroupBy
	name   string
	status int
}

// tally is what is counted of a group.
type tally struct {
	callstore.Counts
	bytes int64
}

// group counts a call in its three groups, in a locked shard.
func (c *Counter) group(s *shard, call *Call) {
	hour := hourOf(call.At)
	first := hour - (hour%secondsPerDay+secondsPerDay)%secondsPerDay
	for _, k := range [...]groupKey{
		{appID: call.AppID, day: first, by: callstore.ByBusiness, name: call.BusinessID},
		{appID: call.AppID, day: first, by: callstore.ByRoute, name: call.Route},
		{appID: call.AppID, day: first, by: callstore.ByStatus, status: call.Status},
	} {
		counts := s.groups[k]
		if counts == nil {
			if !text.IsStorable(k.name) || !c.reserve(&c.grouped, maxGroupsPerBucket*c.cfg.MaxBuckets) {
				if k.by == callstore.ByBusiness {
					c.dropped.Add(1) // the usage lacks it
				}
				continue
			}
			k.appID, k.name = strings.Clone(k.appID), strings.Clone(k.name)
			counts = new(tally)
			if s.groups == nil {
				s.groups = make(map[groupKey]*tally)
			}
			s.groups[k] = counts
		}
		counts.Count(call.Status, call.RateLimited)
		counts.bytes += call.Bytes
	}
}

func (k groupKey) group(counts tally) callstore.Group {
	if k.by == callstore.ByStatus {
		k.name = strconv.Itoa(k.status)
	}
	return callstore.Group{AppID: k.appID, Day: time.Unix(k.day, 0).UTC(), By: k.by, Key: k.name, Counts: counts.Counts, Bytes: counts.bytes}
}

// Groups returns the calls of an app on the days that begin at q.From or later and before q.To, in
// groups: those with the most calls, most first. A Limit that is not from 1 to maxGroups means
// maxGroups. It is [ErrPeriod] when the period is empty or longer than [GroupRetention]. Other
// errors are the store's.
func (c *Counter) Groups(ctx context.Context, q callstore.GroupQuery) ([]callstore.Group, error) {
	if !q.From.Before(q.To) || q.To.Sub(q.From) > GroupRetention {
		return nil, ErrPeriod
	}
	if q.Limit < 1 || q.Limit > maxGroups {
		q.Limit = maxGroups
	}
	if err := c.flush(ctx, func() taken { return c.takeOf(q.AppID) }); err != nil {
		return nil, err
	}
	groups, err := c.cfg.Store.CallGroups(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("analytics: %w", err)
	}
	return groups, nil
}
