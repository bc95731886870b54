package pages_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/console/pages"
)

// SBX-01: in development the pages move the clock, by the steps that they offer.
func TestClock_SBX01(t *testing.T) {
	t.Parallel()
	o, _, fill := newComplete(t)
	hook := fill("/apps/{appId}/webhooks/{webhookId}")
	delivery := hook + fill("/deliveries/{deliveryId}")
	for _, path := range []string{hook, delivery} {
		o.get(path).want(http.StatusOK).shows("The time of the platform is 1 Sep 2026, 12:00:00 UTC.", "1 min 5 min 30 min 1 h 2 h 6 h 24 h 30 days")
	}
	for by, want := range map[string]time.Duration{
		"1m": time.Minute, "5m": 5 * time.Minute, "30m": 30 * time.Minute, "1h": time.Hour, "2h": 2 * time.Hour, "6h": 6 * time.Hour, "24h": 24 * time.Hour, "30d": 720 * time.Hour,
	} {
		before := o.clock.Now()
		o.post("/clock", "by", by, "return_to", "/developer"+hook).wantTo(hook + "?done=clock-moved").shows("The clock was moved")
		if moved := o.clock.Now().Sub(before).Truncate(time.Second); moved != want {
			t.Errorf("%s moves by %v", by, moved)
		}
	}
	o.post("/clock", "by", "1m", "return_to", "/developer").wantTo("?done=clock-moved")

	before := o.clock.Now()
	for _, by := range []string{"", "3m", "-1h", "1H", "8760h", "1m0s"} {
		o.post("/clock", "by", by, "return_to", "/developer").want(http.StatusBadRequest).alerts("by must be one of the steps of the page")
	}
	for _, back := range []string{
		"", "https://evil.example/developer", "//evil.example/developer", "/developers", "/developer/../login", "/developer//evil.example", `/developer/\evil.example`,
		"/settings/apps", "developer", "/developer?done=x", "/developer#x", "javascript:alert(1)",
	} {
		o.post("/clock", "by", "1h", "return_to", back).want(http.StatusBadRequest).alerts("return_to must be a page of the console")
	}
	if moved := o.clock.Now().Sub(before); moved >= time.Minute {
		t.Errorf("refused, and moved by %v", moved)
	}
}

// Anywhere else there is no such thing.
func TestNoClock(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	hook := o.newWebhook(o.newApp(), "https://partner.example/hook")
	o.get("/apps/"+hook.AppID+"/webhooks/"+hook.ID).want(http.StatusOK).lacks("/clock", "return_to")
	o.post("/clock", "by", "1h", "return_to", "/developer").want(http.StatusNotFound)
}

// A clock that cannot be moved is an internal error, whose page does not reveal the cause.
func TestClockThatFails(t *testing.T) {
	t.Parallel()
	o := newHarness(t, func(cfg *pages.Config) {
		cfg.MoveClock = func(context.Context, time.Duration) error { return errors.New("dsn=hidden") }
	})
	o.post("/clock", "by", "1h", "return_to", "/developer").want(http.StatusInternalServerError).lacks("dsn=hidden")
}
