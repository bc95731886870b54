package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// healthStep is one recorded attempt, and what the health is at that moment.
type healthStep struct {
	at     time.Duration // after noon
	status partner.DeliveryStatus
	final  bool // the delivery has used up its attempts

	since    time.Duration // failing since then; negative: it is not failing
	degraded bool
	told     string // the change: failing or recovered
}

// healthCases are DLV-11: the health of a webhook is a matter of its recorded attempts.
var healthCases = []testCase[partnerkit.Store]{
	{"DLV-11 health", func(t *testing.T, e partnerkit.Store) {
		const no = -1
		const m, h = time.Minute, time.Hour
		ok, bad := partner.DeliveryDelivered, partner.DeliveryRetrying
		for name, steps := range map[string][]healthStep{
			"the first attempt fails": {
				{0, bad, false, 0, false, "failing"}, {m, bad, false, 0, false, ""}, {2 * h, bad, false, 0, false, ""},
				{3 * h, ok, false, no, false, "recovered"}, {3*h + m, ok, false, no, false, ""},
			},
			"one failure among successes": {
				{0, ok, false, no, false, ""}, {m, bad, false, no, true, ""}, {2 * m, ok, false, no, true, ""},
				{h + m - 1, ok, false, no, true, ""}, {h + m, ok, false, no, false, ""},
			},
			"failures for an hour": {
				{0, ok, false, no, false, ""}, {m, bad, false, no, true, ""}, {30 * m, bad, false, no, true, ""}, {h - 1, bad, false, no, true, ""},
				{h, bad, false, m, false, "failing"}, {h + m, bad, false, m, false, ""},
				{h + 2*m, ok, false, no, true, "recovered"}, {h + 3*m, bad, false, no, true, ""}, {h + 4*m, ok, false, no, true, ""},
			},
			"a failure days after the last success": {
				{0, ok, false, no, false, ""}, {m, bad, false, no, true, ""}, {72 * h, bad, false, m, false, "failing"},
			},
			"at the same moment": {
				{0, bad, false, 0, false, "failing"}, {0, ok, false, no, true, "recovered"}, {0, bad, false, no, true, ""},
			},
			"a delivery that has failed for good": {
				{0, ok, false, no, false, ""}, {m, partner.DeliveryFailed, true, no, true, ""}, {9 * h, partner.DeliveryFailed, true, m, false, "failing"},
			},
		} {
			t.Run(name, func(t *testing.T) {
				f := newSender(t, e)
				defer func() {
					must(t, e.LeaveShards(t.Context(), f.node))
				}()
				f.queued(t, len(steps))
				due := f.due(t, noon.Add(time.Hour))
				for i, step := range steps {
					now := noon.Add(step.at)
					done := f.tried(t, now, 0, due[i], step.status, step.final)
					want := partner.WebhookHealth{IsDegraded: step.degraded}
					if step.since != no {
						want.FailingSince = noon.Add(step.since)
					}
					got := f.health(t, now)
					got.Attempts, got.Failures = 0, 0
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("step %d (-want +got)\n%s", i, diff)
					}
					if told := toldOf(done); told != step.told {
						t.Errorf("step %d: told %q, want %q", i, told, step.told)
					}
				}
			})
		}
	}},
	{"DLV-11 a batch is as good as its attempts one by one", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		f.queued(t, 6)
		due := f.due(t, noon.Add(time.Hour))
		at := func(i int, after time.Duration, status partner.DeliveryStatus) webhookstore.Outcome {
			return f.ended(due[i], noon.Add(after), status, false)
		}
		record := func(now time.Duration, all ...webhookstore.Outcome) string {
			t.Helper()
			finish := f.finish(all...)
			finish.Now = noon.Add(now)
			return toldOf(get[webhookstore.Finished](t)(e.FinishAttempts(t.Context(), finish)))
		}
		ok, bad := partner.DeliveryDelivered, partner.DeliveryRetrying
		if told := record(0, at(0, 0, bad), at(1, -time.Second, ok)); told != "" {
			t.Errorf("a success a second before: told %q", told)
		}
		if got := f.health(t, noon); got.IsFailing() || !got.IsDegraded || got.Attempts != 2 || got.Failures != 1 {
			t.Errorf("a success a second before: %+v", got)
		}
		// Attempts that started earlier end later.
		if told := record(2*time.Hour, at(2, 2*time.Hour, bad)); told != "failing" {
			t.Errorf("nothing succeeded for two hours: told %q", told)
		}
		if told := record(2*time.Hour+time.Second, at(3, 2*time.Hour-5*time.Second, ok)); told != "recovered" {
			t.Errorf("one of before has succeeded: told %q", told)
		}
		if told := record(2*time.Hour+time.Minute, at(4, 2*time.Hour+time.Minute, ok), at(5, 2*time.Hour+time.Second, bad)); told != "" {
			t.Errorf("it works: told %q", told)
		}
		if got := f.health(t, noon.Add(2*time.Hour+time.Minute)); got.IsFailing() || got.Attempts != 6 || got.Failures != 3 {
			t.Errorf("it works: %+v", got)
		}
	}},
	{"DLV-11 failure rate", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		f.queued(t, 4)
		due := f.due(t, noon.Add(time.Hour))
		if rate, ok := f.health(t, noon).FailureRate(); ok {
			t.Errorf("without attempts the rate is %v", rate)
		}
		dropped := f.outcome(due[3], partner.DeliveryFailed, 0)
		dropped.Attempt = nil
		get[webhookstore.Finished](t)(e.FinishAttempts(t.Context(), f.finish(dropped)))
		if rate, ok := f.health(t, noon).FailureRate(); ok {
			t.Errorf("of a delivery that was not sent the rate is %v", rate)
		}
		f.tried(t, noon, 0, due[0], partner.DeliveryDelivered, false)
		f.tried(t, noon.Add(time.Hour), 0, due[1], partner.DeliveryRetrying, false)
		f.tried(t, noon.Add(2*time.Hour), 0, due[2], partner.DeliveryRetrying, false)
		const day = 24 * time.Hour
		for _, test := range []struct {
			at                 time.Duration
			attempts, failures int
		}{
			{day - 1, 3, 2}, {day, 2, 2}, {day + time.Hour - 1, 2, 2}, {day + time.Hour, 1, 1}, {day + 2*time.Hour, 0, 0},
		} {
			got := f.health(t, noon.Add(test.at))
			if got.Attempts != test.attempts || got.Failures != test.failures {
				t.Errorf("after %v: %d of %d attempts, want %d of %d", test.at, got.Failures, got.Attempts, test.failures, test.attempts)
			}
		}
		all := get[[]partner.Webhook](t)(e.Webhooks(t.Context(), f.app.ID, noon.Add(3*time.Hour)))
		if rate, ok := all[0].Health.FailureRate(); !ok || rate != 2.0/3 {
			t.Errorf("in the list the rate is %v, %v", rate, ok)
		}
		if !f.health(t, noon.Add(day+2*time.Hour)).IsFailing() {
			t.Error("a day without attempts has made the webhook work")
		}
	}},
	{"DLV-11 disables a webhook that keeps failing", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		f.queued(t, 9)
		due := f.due(t, noon.Add(time.Hour))
		const day = 24 * time.Hour
		for i, step := range []struct {
			after     time.Duration
			status    partner.DeliveryStatus
			exhausted bool
			disabled  bool
		}{
			{0, partner.DeliveryDelivered, false, false},
			{day, partner.DeliveryRetrying, false, false},
			{2 * day, partner.DeliveryFailed, true, false},
			{6 * day, partner.DeliveryRetrying, false, false}, // one delivery has failed for good
			{7 * day, partner.DeliveryDelivered, false, false},
			{8 * day, partner.DeliveryFailed, true, false},
			{9 * day, partner.DeliveryFailed, true, false},
			{11 * day, partner.DeliveryRetrying, false, true},
			{12 * day, partner.DeliveryRetrying, false, false}, // was under way
		} {
			now := noon.Add(step.after)
			done := f.tried(t, now, 3*day, due[i], step.status, step.exhausted)
			if (len(done.Disabled) == 1) != step.disabled {
				t.Errorf("step %d: disabled %v", i, done.Disabled)
			}
			hook := get[partner.Webhook](t)(oneWebhook(e)(t.Context(), f.app.ID, f.webhook.ID))
			if step.disabled && (hook.Enabled || !hook.Health.DisabledAt.Equal(now) || hook.Health.DisabledReason != "no delivery has succeeded for 3 days") {
				t.Errorf("step %d: %v, %+v", i, hook.Enabled, hook.Health)
			}
		}
		on := f.switched(t, true)
		if diff := cmp.Diff(partner.WebhookHealth{}, on.Health); diff != "" || !on.Enabled {
			t.Errorf("switched on again (-want +got)\n%s", diff)
		}
	}},
	// An attempt that was claimed before the webhook was switched on again, on whichever
	// node, is not one of the new life.
	{"DLV-11 a webhook that is switched on again starts over", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		f.queued(t, 8)
		old := f.due(t, noon.Add(time.Hour))
		f.tried(t, noon, 0, old[0], partner.DeliveryDelivered, false)
		f.tried(t, noon.Add(time.Minute), 0, old[1], partner.DeliveryFailed, true)
		f.tried(t, noon.Add(2*time.Hour), 0, old[2], partner.DeliveryFailed, true)
		f.switched(t, false)
		if got := f.health(t, noon.Add(2*time.Hour)); !got.IsFailing() {
			t.Errorf("off: %+v", got)
		}
		f.switched(t, true)
		now := noon.Add(2*time.Hour + time.Minute)
		if diff := cmp.Diff(partner.WebhookHealth{}, f.health(t, now)); diff != "" {
			t.Errorf("on again (-want +got)\n%s", diff)
		}
		for _, o := range []webhookstore.Outcome{f.ended(old[3], now, partner.DeliveryFailed, true), f.ended(old[4], now, partner.DeliveryDelivered, false)} {
			finish := f.finish(o)
			finish.Now, finish.DisableAfter = now, time.Hour
			if told := toldOf(get[webhookstore.Finished](t)(e.FinishAttempts(t.Context(), finish))); told != "" {
				t.Errorf("an attempt of before: told %q", told)
			}
		}
		if diff := cmp.Diff(partner.WebhookHealth{}, f.health(t, now)); diff != "" {
			t.Errorf("after attempts of before (-want +got)\n%s", diff)
		}
		due := f.due(t, noon.Add(time.Hour))
		if done := f.tried(t, now, 0, due[0], partner.DeliveryRetrying, false); toldOf(done) != "failing" {
			t.Errorf("the first attempt fails: told %q", toldOf(done))
		}
		if got := f.health(t, now); !got.FailingSince.Equal(now) || got.Attempts != 1 || got.Failures != 1 {
			t.Errorf("the first attempt fails: %+v", got)
		}
		// Saving a webhook that is on changes nothing.
		f.switched(t, true)
		if !f.health(t, now).IsFailing() {
			t.Error("saving a webhook has made it work")
		}
	}},
	{"CON-11 attempts by hour", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		f.queued(t, 5)
		due := f.due(t, noon.Add(time.Hour))
		for i, one := range []struct {
			after, took time.Duration
			status      partner.DeliveryStatus
		}{
			{-time.Minute, time.Second, partner.DeliveryDelivered}, // before the first hour
			{time.Minute, 3 * time.Millisecond, partner.DeliveryDelivered},
			{59 * time.Minute, 12 * time.Second, partner.DeliveryRetrying},
			{2 * time.Hour, 40 * time.Millisecond, partner.DeliveryDelivered},
			{2*time.Hour + time.Second, 50 * time.Millisecond, partner.DeliveryDelivered},
		} {
			ended := f.ended(due[i], noon.Add(one.after), one.status, false)
			ended.Attempt.Duration = one.took
			get[webhookstore.Finished](t)(e.FinishAttempts(t.Context(), f.finish(ended)))
		}
		f.switched(t, false)
		f.switched(t, true) // what was attempted before stays in the history
		want := []callstore.AttemptHour{
			{Start: noon, Succeeded: 1, Failed: 1, Latency: callstore.Latency{0: 1, 11: 1}},
			{Start: noon.Add(2 * time.Hour), Succeeded: 2, Latency: callstore.Latency{3: 2}},
		}
		if diff := cmp.Diff(want, get[[]callstore.AttemptHour](t)(e.AttemptHours(t.Context(), f.webhook.ID, noon))); diff != "" {
			t.Error(diff)
		}
		if got := get[[]callstore.AttemptHour](t)(e.AttemptHours(t.Context(), "whk_none", noon)); len(got) > 0 {
			t.Errorf("a webhook without attempts has %v", got)
		}
	}},
	{"DLV-11 old counts are purged", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		f.queued(t, 3)
		due := f.due(t, noon.Add(time.Hour))
		for i, after := range []time.Duration{0, time.Minute, time.Hour} {
			f.tried(t, noon.Add(after), 0, due[i], partner.DeliveryRetrying, false)
		}
		before := noon.Add(time.Hour)
		for i, want := range []int{1, 1, 0} {
			if n := get[int](t)(e.Purge(t.Context(), storage.Purge{Kind: storage.PurgeHealth, Before: before, Limit: 1})); n != want {
				t.Errorf("batch %d: %d were purged, want %d", i, n, want)
			}
		}
		if got := f.health(t, before); got.Attempts != 1 || !got.FailingSince.Equal(noon) {
			t.Errorf("purged: %+v", got)
		}
	}},
}

// toldOf returns the change of one webhook.
func toldOf(done webhookstore.Finished) string {
	told := ""
	if len(done.Failing) > 0 {
		told += "failing"
	}
	if len(done.Recovered) > 0 {
		told += "recovered"
	}
	if n := len(slices.Concat(done.Failing, done.Recovered)); n > 1 {
		told += " and more"
	}
	return told
}

// ended is the outcome of an attempt that started at a time.
func (f *senderFixture) ended(due webhookstore.Due, at time.Time, status partner.DeliveryStatus, isExhausted bool) webhookstore.Outcome { //nolint:revive // a fact, not a switch
	o := f.outcome(due, status, map[bool]int{true: 200, false: 500}[status == partner.DeliveryDelivered])
	o.Attempt.StartedAt, o.IsExhausted = at, isExhausted
	return o
}

// tried records an attempt.
func (f *senderFixture) tried(t *testing.T, at time.Time, disableAfter time.Duration, due webhookstore.Due, status partner.DeliveryStatus, isExhausted bool) webhookstore.Finished { //nolint:revive // a fact, not a switch
	t.Helper()
	finish := f.finish(f.ended(due, at, status, isExhausted))
	finish.Now, finish.DisableAfter = at, disableAfter
	return get[webhookstore.Finished](t)(f.FinishAttempts(t.Context(), finish))
}

func (f *senderFixture) health(t *testing.T, at time.Time) partner.WebhookHealth {
	t.Helper()
	return get[partner.Webhook](t)(f.Webhook(t.Context(), f.app.ID, f.webhook.ID, at)).Health
}

// switched saves the webhook, on or off.
func (f *senderFixture) switched(t *testing.T, on bool) partner.Webhook { //nolint:revive // a state, not a switch
	t.Helper()
	return get[partner.Webhook](t)(f.UpdateWebhook(t.Context(), f.app.ID, f.webhook.ID, func(w partner.Webhook) (partner.Webhook, error) {
		w.Enabled = on
		return w, nil
	}))
}
