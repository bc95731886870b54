package ratelimit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/partnerkit/partnerkit/ratelimit"
)

func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	minutes := func(n int) ratelimit.Limit { return ratelimit.Limit{Count: n, Window: time.Minute} }
	want := ratelimit.Limits{
		PerBusiness: minutes(300), PerApp: minutes(10_000),
		OAuthWithSecret: minutes(600), OAuthWithoutSecret: minutes(300), OAuthPerIP: minutes(1_200), OAuthPerClient: minutes(600),
		DeviceAuthorize: minutes(30), Register: minutes(30), DefaultPerIP: minutes(600),
		AuthFailures:      ratelimit.LockoutRule{MoreThan: 30, Within: time.Minute, For: time.Minute},
		AuthFailuresPerIP: ratelimit.LockoutRule{MoreThan: 100, Within: time.Minute, For: time.Minute},
		UserCodes:         ratelimit.LockoutRule{MoreThan: 19, Within: 10 * time.Minute, For: 10 * time.Minute},
	}
	ignore := cmpopts.IgnoreFields(ratelimit.Limits{}, "LimitsFor")
	if diff := cmp.Diff(want, ratelimit.DefaultLimits(), ignore); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	changed := ratelimit.Limits{PerApp: ratelimit.Limit{Count: 5}, UserCodes: ratelimit.LockoutRule{MoreThan: 3}}.WithDefaults()
	want.PerApp, want.UserCodes.MoreThan = minutes(5), 3
	if diff := cmp.Diff(want, changed, ignore); diff != "" {
		t.Errorf("two numbers changed (-want +got):\n%s", diff)
	}
}

func TestLimitsValidate(t *testing.T) {
	t.Parallel()
	wrong := ratelimit.Limits{
		PerBusiness: ratelimit.Limit{Count: -1},
		OAuthPerIP:  ratelimit.Limit{Count: 1, Window: 48 * time.Hour},
		UserCodes:   ratelimit.LockoutRule{MoreThan: 5_000},
	}
	err := wrong.Validate()
	if !errors.Is(err, ratelimit.ErrInvalid) {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"Limits.PerBusiness: ", "Limits.OAuthPerIP: ", "Limits.UserCodes: ", "guessed"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %q", err, part)
		}
	}
	if err := (ratelimit.Limits{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
}

func TestLimitsForFaults(t *testing.T) {
	t.Parallel()
	defaults := ratelimit.DefaultLimits()
	for name, limitsFor := range map[string]func(context.Context, ratelimit.Call) ratelimit.CallLimits{
		"panic": func(context.Context, ratelimit.Call) ratelimit.CallLimits { panic("no plan") },
		"negative": func(context.Context, ratelimit.Call) ratelimit.CallLimits {
			return ratelimit.CallLimits{PerApp: ratelimit.Limit{Count: -1}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := defaults
			limits.LimitsFor = limitsFor
			got, err := limits.For(t.Context(), ratelimit.Call{})
			if want := (ratelimit.CallLimits{PerBusiness: defaults.PerBusiness, PerApp: defaults.PerApp}); err == nil || got != want || strings.Contains(err.Error(), "no plan") {
				t.Errorf("got %+v and %v, want %+v and an error", got, err, want)
			}
		})
	}
}
