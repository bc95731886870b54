package analytics

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/text"
)

// GroupBy selects the property by which calls are grouped.
type GroupBy string

// The values of GroupBy.
const (
	ByRoute    GroupBy = "route"
	ByStatus   GroupBy = "status"
	ByBusiness GroupBy = "business"
)

// GroupRetention is how long groups by route and by status are kept. Those by business are
// the [Usage], which is kept for Config.Retention.
const GroupRetention = 90 * day

// MaxGroups is how many groups a report has: those with the most calls.
const MaxGroups = 100

// Group is the calls of one app on one UTC day that have something in common: their route,
// the status of their responses, or their business.
type Group struct {
	AppID string
	Day   time.Time // its beginning
	By    GroupBy
	Key   string // empty: calls that no route serves
	Counts
	Bytes int64 // of the bodies of the responses
}

// GroupStore reads groups. [Store.AddCalls] adds them.
type GroupStore interface {
	// CallGroups adds up the groups of an app of the days that begin at from or later and
	// before to, and returns those with the most calls, most first, then by key. Their Day
	// is zero.
	CallGroups(ctx context.Context, q GroupQuery) ([]Group, error)
}

// GroupQuery asks for groups.
type GroupQuery struct {
	AppID    string
	By       GroupBy
	From, To time.Time
	Limit    int
}

// groupKey names a group in memory. A status is not made a text while a request waits.
type groupKey struct {
	appID  string
	day    int64 // Unix seconds of its beginning
	by     GroupBy
	name   string
	status int
}

// tally is what is counted of a group.
type tally struct {
	Counts
	bytes int64
}

// group counts a call in its three groups, in a locked shard.
func (c *Counter) group(s *shard, call *Call) {
	hour := hourOf(call.At)
	first := hour - (hour%secondsPerDay+secondsPerDay)%secondsPerDay
	for _, k := range [...]groupKey{
		{appID: call.AppID, day: first, by: ByBusiness, name: call.BusinessID},
		{appID: call.AppID, day: first, by: ByRoute, name: call.Route},
		{appID: call.AppID, day: first, by: ByStatus, status: call.Status},
	} {
		counts := s.groups[k]
		if counts == nil {
			if !text.IsStorable(k.name) || !c.reserve(&c.grouped, maxGroupsPerBucket*c.cfg.MaxBuckets) {
				if k.by == ByBusiness {
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
		counts.count(call.Status, call.RateLimited)
		counts.bytes += call.Bytes
	}
}

func (k groupKey) group(counts tally) Group {
	if k.by == ByStatus {
		k.name = strconv.Itoa(k.status)
	}
	return Group{AppID: k.appID, Day: time.Unix(k.day, 0).UTC(), By: k.by, Key: k.name, Counts: counts.Counts, Bytes: counts.bytes}
}

// Groups returns the calls of an app on the days that begin at q.From or later and before q.To, in
// groups: those with the most calls, most first. A Limit that is not from 1 to [MaxGroups] means
// MaxGroups. It is [ErrPeriod] when the period is empty or longer than [GroupRetention]. Other
// errors are the store's.
func (c *Counter) Groups(ctx context.Context, q GroupQuery) ([]Group, error) {
	if !q.From.Before(q.To) || q.To.Sub(q.From) > GroupRetention {
		return nil, ErrPeriod
	}
	if q.Limit < 1 || q.Limit > MaxGroups {
		q.Limit = MaxGroups
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
