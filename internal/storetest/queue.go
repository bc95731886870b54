package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

var queueCases = []testCase[partnerkit.Store]{
	// DLV-05: nothing that is queued is overlooked.
	{"Webhooks with new deliveries are news, and are found by search", func(t *testing.T, e partnerkit.Store) {
		f, second := newSender(t, e), newSender(t, e)
		place := get[webhookstore.News](t)(e.News(t.Context(), nil)).Place
		f.queued(t, 3) // due at noon, a second later, two seconds later
		want := []webhookstore.DueWebhook{{WebhookID: f.webhook.ID, First: noon, Last: noon.Add(2 * time.Second)}}
		read := func(from webhookstore.NewsPlace) []webhookstore.DueWebhook {
			var all []webhookstore.DueWebhook
			for more := true; more; {
				news := get[webhookstore.News](t)(e.News(t.Context(), from))
				if more, place, from = news.HasMore, news.Place, news.Place; news.IsIncomplete {
					t.Error("news are missing")
				}
				all = append(all, news.Webhooks...)
			}
			return all
		}
		began := place
		if diff := cmp.Diff(want, read(began)); diff != "" {
			t.Errorf("news (-want +got)\n%s", diff)
		}
		if got := read(place); len(got) != 0 {
			t.Errorf("news twice: %v", got)
		}
		second.queued(t, 1)
		if got := read(place); len(got) != 1 || got[0].WebhookID != second.webhook.ID {
			t.Errorf("news of the second: %v", got)
		}
		for range 300 { // more than is kept
			f.queued(t, 1)
		}
		if news := get[webhookstore.News](t)(e.News(t.Context(), began)); !news.IsIncomplete {
			t.Error("news of long ago are complete")
		}
		shard := sendShard(f.webhook.ID, f.shards).Number
		find := func(shards []int) (ids []string) {
			for _, one := range get[[]webhookstore.DueWebhook](t)(e.QueuedWebhooks(t.Context(), shards)) {
				if ids = append(ids, one.WebhookID); !one.First.Equal(noon) {
					t.Errorf("%s is due at %v", one.WebhookID, one.First)
				}
			}
			return ids
		}
		if got := find(nil); len(got) != 2 {
			t.Errorf("two webhooks have work: %v", got)
		}
		if got := find([]int{shard}); !slices.Contains(got, f.webhook.ID) {
			t.Errorf("the shard has %v", got)
		}
		if got := find([]int{(shard + 1) % (len(f.shards) / 2)}); slices.Contains(got, f.webhook.ID) {
			t.Errorf("another shard has %v", got)
		}
	}},
	{"Webhooks with attempts to repeat are found when they are due", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		f.queued(t, 3)
		var outcomes []webhookstore.Outcome
		for i, due := range f.due(t, noon.Add(time.Hour)) {
			outcomes = append(outcomes, f.outcome(due, partner.DeliveryRetrying, 500)) // due in a minute
			outcomes[i].NextAttemptAt = noon.Add(time.Minute + []time.Duration{0, time.Millisecond, time.Second}[i])
		}
		get[webhookstore.Finished](t)(e.FinishAttempts(t.Context(), f.finish(outcomes...)))
		shard := sendShard(f.webhook.ID, f.shards).Number
		const s, minute = time.Second, time.Minute
		for name, test := range map[string]struct {
			shards       []int
			after, until time.Duration
			want         bool
		}{
			"not yet":       {[]int{shard}, 0, minute - s, false},
			"in time":       {[]int{shard}, minute - s, minute + time.Millisecond, true},
			"the last":      {[]int{shard}, minute + time.Millisecond, minute + s, true},
			"past":          {[]int{shard}, minute + s, 2 * minute, false},
			"another shard": {[]int{(shard + 1) % (len(f.shards) / 2)}, 0, 2 * minute, false},
			"no shard":      {nil, 0, 2 * minute, false},
		} {
			got := get[[]webhookstore.DueWebhook](t)(e.DueWebhooks(t.Context(), test.shards, noon.Add(test.after), noon.Add(test.until)))
			if found := len(got) == 1 && got[0].WebhookID == f.webhook.ID; found != test.want || len(got) > 1 {
				t.Errorf("%s: %v", name, got)
			}
		}
		must(t, e.ForgetDue(t.Context(), []int{shard}, noon.Add(minute+s-1)))
		if got := get[[]webhookstore.DueWebhook](t)(e.DueWebhooks(t.Context(), []int{shard}, time.Time{}, noon.Add(time.Hour))); len(got) != 1 || !got[0].First.Equal(noon.Add(minute+s)) {
			t.Errorf("what is left: %v", got)
		}
	}},
	// DLV-14: the clock of the node that queued it may be ahead.
	{"A first attempt is claimed up to a later time", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		all := f.queued(t, 3)
		again := f.outcome(f.due(t, noon)[0], partner.DeliveryRetrying, 500)
		again.NextAttemptAt = noon.Add(time.Second)
		get[webhookstore.Finished](t)(e.FinishAttempts(t.Context(), f.finish(again)))
		due := get[[]webhookstore.Due](t)(e.DueDeliveries(t.Context(), webhookstore.Claim{
			Webhooks: []webhookstore.WebhookClaim{{WebhookID: f.webhook.ID, Until: noon.Add(time.Second), Limit: 9}}, Now: noon.Add(-time.Minute), IsTaken: notTaken,
		}))
		if len(due) != 1 || due[0].ID != all[1].ID {
			t.Errorf("claimed %v", due)
		}
	}},
	{"Due deliveries come in order, with their standing", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		all := f.queued(t, 4)
		claim := func(w webhookstore.WebhookClaim, until time.Duration, taken ...string) []string {
			w.WebhookID = f.webhook.ID
			due := get[[]webhookstore.Due](t)(e.DueDeliveries(t.Context(), webhookstore.Claim{Webhooks: []webhookstore.WebhookClaim{w}, Now: noon.Add(until), IsTaken: func(id string) bool {
				for _, one := range taken {
					if one == id {
						return true
					}
				}
				return false
			}}))
			var ids []string
			for _, one := range due {
				ids = append(ids, one.ID)
			}
			return ids
		}
		const s = time.Second
		for name, test := range map[string]struct{ got, want []string }{
			"not yet due stay":   {claim(webhookstore.WebhookClaim{Limit: 9}, s), []string{all[0].ID, all[1].ID}},
			"as many as wanted":  {claim(webhookstore.WebhookClaim{Limit: 1}, 9*s), []string{all[0].ID}},
			"from a time on":     {claim(webhookstore.WebhookClaim{Limit: 9, From: noon.Add(2 * s)}, 9*s), []string{all[2].ID, all[3].ID}},
			"behind one":         {claim(webhookstore.WebhookClaim{Limit: 9, From: noon.Add(s), After: all[1].ID}, 9*s), []string{all[2].ID, all[3].ID}},
			"taken do not count": {claim(webhookstore.WebhookClaim{Limit: 2, Taken: 2}, 9*s, all[0].ID, all[1].ID), []string{all[2].ID, all[3].ID}},
		} {
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		}
		due := f.due(t, noon)[0]
		want := webhookstore.Due{
			Delivery: all[0], DueAt: noon, URL: f.webhook.URL, Secrets: f.webhook.Secrets,
			Standing: webhookstore.Standing{IsEnabled: true, IsAppUsable: true},
		}
		want.Standing.Viewer.AppID, want.Standing.Viewer.AppScopes = f.app.ID, allScopes
		want.Standing.Viewer.IsInstalled, want.Standing.Viewer.InstallationScopes = true, allScopes
		if diff := cmp.Diff(want, due); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	// DLV-03: any change that closes a gate is visible to the next claim.
	{"A claim sees the gates as they are", func(t *testing.T, e partnerkit.Store) {
		narrow := identity.MustScopes("events:read")
		for name, test := range map[string]struct {
			close func(t *testing.T, f *senderFixture) error
			want  func(*webhookstore.Standing)
		}{
			"deleted": {func(t *testing.T, f *senderFixture) error {
				return e.DeleteWebhook(t.Context(), f.app.ID, f.webhook.ID, noon)
			}, func(s *webhookstore.Standing) { s.IsDeleted = true }},
			"off": {func(t *testing.T, f *senderFixture) error {
				_, err := e.UpdateWebhook(t.Context(), f.app.ID, f.webhook.ID, func(w partner.Webhook) (partner.Webhook, error) {
					w.Enabled = false
					return w, nil
				})
				return err
			}, func(s *webhookstore.Standing) { s.IsEnabled = false }},
			"suspended": {func(t *testing.T, f *senderFixture) error {
				return fixture.SetAppStatus(t.Context(), e, f.app.ID, partner.AppSuspended)
			}, func(s *webhookstore.Standing) { s.IsAppUsable = false }},
			"uninstalled": {func(t *testing.T, f *senderFixture) error {
				return f.uninstall(t, noon)
			}, func(s *webhookstore.Standing) {
				s.Viewer.IsInstalled, s.Viewer.InstallationScopes = false, identity.Scopes{}
			}},
			"app narrowed": {func(t *testing.T, f *senderFixture) error {
				_, err := e.UpdateApp(t.Context(), f.app.ID, func(a partner.App) (partner.App, error) {
					a.Scopes = narrow
					return a, nil
				})
				return err
			}, func(s *webhookstore.Standing) { s.Viewer.AppScopes = narrow }},
		} {
			f := newSender(t, e)
			f.queued(t, 1)
			want := f.due(t, noon)[0].Standing
			must(t, test.close(t, f))
			test.want(&want)
			if diff := cmp.Diff(want, f.due(t, noon)[0].Standing); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		}
	}},
	{"Outcomes are recorded once", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		f.queued(t, 3)
		due := f.due(t, noon.Add(time.Hour))
		dropped := f.outcome(due[2], partner.DeliveryFailed, 0)
		dropped.Attempt, dropped.Attempts, dropped.LastError = nil, 0, "not sent"
		outcomes := []webhookstore.Outcome{f.outcome(due[0], partner.DeliveryDelivered, 200), f.outcome(due[1], partner.DeliveryRetrying, 500), dropped}
		for range 2 { // after a lost response it is called again
			get[webhookstore.Finished](t)(e.FinishAttempts(t.Context(), f.finish(outcomes...)))
		}
		for i, o := range outcomes {
			d, attempts := f.stored(t, due[i].ID)
			want := due[i].Delivery
			want.Status, want.Attempts, want.ResponseCode, want.LastError, want.NextAttemptAt = o.Status, o.Attempts, o.ResponseCode, o.LastError, o.NextAttemptAt
			if diff := cmp.Diff(want, d); diff != "" {
				t.Errorf("%s (-want +got)\n%s", o.Status, diff)
			}
			var log []partner.Attempt
			if o.Attempt != nil {
				log = []partner.Attempt{*o.Attempt}
			}
			if diff := cmp.Diff(log, attempts); diff != "" {
				t.Errorf("attempts (-want +got)\n%s", diff)
			}
		}
		if left := f.due(t, noon.Add(time.Minute-1)); len(left) != 0 {
			t.Errorf("due before its time: %v", left)
		}
		if left := f.due(t, noon.Add(time.Minute)); len(left) != 1 || left[0].ID != due[1].ID || left[0].Attempts != 1 || left[0].Status != partner.DeliveryRetrying {
			t.Errorf("the retry: %v", left)
		}
	}},
}

// uninstall ends the installation of the fixture's app.
func (f *senderFixture) uninstall(t *testing.T, now time.Time) error {
	t.Helper()
	_, err := f.EndInstallation(t.Context(), oauthstore.EndInstallation{
		AppID: f.app.ID, BusinessID: f.business, Status: partner.InstallationRemoved, Now: now, RedactAt: now.Add(time.Hour),
		Record: func(partner.Installation) []partner.Event { return nil },
	})
	return err
}
