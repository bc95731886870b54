package ratelimit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/ratelimit"
)

// LIM-08: which windows a limit may have.
func TestWindows_LIM08(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limits ratelimit.Limits
		ok     bool
	}{
		"two":            {ratelimit.Limits{PerBusiness: ratelimit.PerMinute(60), PerBusinessAlso: ratelimit.Windows{ratelimit.PerDay(5_000)}}, true},
		"three":          {ratelimit.Limits{PerApp: ratelimit.PerMinute(60), PerAppAlso: ratelimit.Windows{ratelimit.PerHour(500), ratelimit.PerDay(5_000)}}, true},
		"of the default": {ratelimit.Limits{PerBusinessAlso: ratelimit.Windows{ratelimit.PerDay(5_000)}}, true},
		"the same":       {ratelimit.Limits{PerBusinessAlso: ratelimit.Windows{ratelimit.PerMinute(5_000)}}, false},
		"the same twice": {ratelimit.Limits{PerAppAlso: ratelimit.Windows{ratelimit.PerDay(5_000), ratelimit.PerDay(6_000)}}, false},
		"no length":      {ratelimit.Limits{PerAppAlso: ratelimit.Windows{{Count: 5}}}, false},
		"no count":       {ratelimit.Limits{PerAppAlso: ratelimit.Windows{{Window: time.Hour}}}, false},
		"too long":       {ratelimit.Limits{PerAppAlso: ratelimit.Windows{{Count: 5, Window: 25 * time.Hour}}}, false},
	} {
		if err := test.limits.Validate(); (err == nil) != test.ok || err != nil && !errors.Is(err, ratelimit.ErrInvalid) {
			t.Errorf("LIM-08 %s: %v", name, err)
		}
	}
}

// LIM-08: a plan replaces a limit with all its windows, and one that makes no sense replaces
// nothing.
func TestWindowsOfPlans_LIM08(t *testing.T) {
	t.Parallel()
	plans := map[string]ratelimit.CallLimits{
		"free":   {PerBusiness: ratelimit.PerMinute(10), PerBusinessAlso: ratelimit.Windows{ratelimit.PerDay(100)}},
		"minute": {PerBusiness: ratelimit.PerMinute(20)},
		"day":    {PerBusinessAlso: ratelimit.Windows{ratelimit.PerDay(200)}},
		"wrong":  {PerBusiness: ratelimit.PerMinute(30), PerBusinessAlso: ratelimit.Windows{ratelimit.PerMinute(300)}},
		"route":  {PerRoute: ratelimit.PerMinute(5), PerRouteAlso: ratelimit.PerHour(50)},
	}
	limits := ratelimit.Limits{
		PerBusinessAlso: ratelimit.Windows{ratelimit.PerDay(5_000), ratelimit.PerHour(1_000)},
		LimitsFor:       func(_ context.Context, call ratelimit.Call) ratelimit.CallLimits { return plans[call.AppID] },
	}.WithDefaults()
	ours := ratelimit.CallLimits{PerBusiness: limits.PerBusiness, PerApp: limits.PerApp, PerBusinessAlso: limits.PerBusinessAlso}
	with := func(change func(*ratelimit.CallLimits)) ratelimit.CallLimits {
		changed := ours
		change(&changed)
		return changed
	}
	for plan, want := range map[string]ratelimit.CallLimits{
		"none": ours, "wrong": ours,
		"free": with(func(l *ratelimit.CallLimits) {
			l.PerBusiness, l.PerBusinessAlso = ratelimit.PerMinute(10), ratelimit.Windows{ratelimit.PerDay(100)}
		}),
		"minute": with(func(l *ratelimit.CallLimits) {
			l.PerBusiness, l.PerBusinessAlso = ratelimit.PerMinute(20), ratelimit.Windows{}
		}),
		"day": with(func(l *ratelimit.CallLimits) { l.PerBusinessAlso = ratelimit.Windows{ratelimit.PerDay(200)} }),
		"route": with(func(l *ratelimit.CallLimits) {
			l.PerRoute, l.PerRouteAlso = ratelimit.PerMinute(5), ratelimit.PerHour(50)
		}),
	} {
		got, err := limits.For(t.Context(), ratelimit.Call{AppID: plan})
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (plan == "wrong") {
			t.Errorf("LIM-08 %s: %v (-want +got)\n%s", plan, err, diff)
		}
	}
	call := ratelimit.Call{AppID: "route", BusinessID: "biz_1", Pattern: "GET /"}
	of, _ := limits.For(t.Context(), call)
	counters := of.Counters(&call)
	seen := map[ratelimit.CallLimit][]ratelimit.Limit{}
	for i, counter := range counters {
		if counter.IsUsed() {
			seen[ratelimit.LimitAt(i)] = append(seen[ratelimit.LimitAt(i)], counter.Limit)
		}
	}
	if diff := cmp.Diff(map[ratelimit.CallLimit][]ratelimit.Limit{
		ratelimit.BusinessLimit: {ratelimit.PerMinute(300), ratelimit.PerDay(5_000), ratelimit.PerHour(1_000)},
		ratelimit.AppLimit:      {ratelimit.PerMinute(10_000)},
		ratelimit.RouteLimit:    {ratelimit.PerMinute(5), ratelimit.PerHour(50)},
	}, seen); diff != "" {
		t.Errorf("LIM-08 (-want +got)\n%s", diff)
	}
}
