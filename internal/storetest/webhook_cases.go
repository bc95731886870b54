package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// webhookCases are the operations on webhooks, one at a time.
var webhookCases = []testCase[partnerkit.Store]{
	{"Webhooks come back as they were", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		second := f.another(noon.Add(time.Second))
		second.ID, second.Events, second.Enabled = "a-fixture-"+f.app.ID, []string{}, false // its id sorts first
		second.Previous, second.PreviousExpiresAt = []byte{1}, noon.Add(time.Hour)
		must(t, e.CreateWebhook(t.Context(), second, maxWebhooks))
		newWebhook(t, e)
		for _, want := range []partner.Webhook{f.webhook, second} {
			got, err := oneWebhook(e)(t.Context(), f.app.ID, want.ID)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v, (-want +got)\n%s", err, diff)
			}
		}
		if diff := cmp.Diff([]partner.Webhook{f.webhook, second}, get[[]partner.Webhook](t)(e.Webhooks(t.Context(), f.app.ID, time.Time{}))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if none := get[[]partner.Webhook](t)(e.Webhooks(t.Context(), "app_absent", time.Time{})); len(none) != 0 {
			t.Errorf("an absent app has %v", none)
		}
	}},
	// WH-01: several, but not any number; a deleted one makes room.
	{"An app has only so many webhooks", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		add := func(w partner.Webhook) error { return e.CreateWebhook(t.Context(), w, maxWebhooks) }
		for range maxWebhooks - 1 {
			must(t, add(f.another(noon)))
		}
		if err := add(f.another(noon)); !errors.Is(err, webhookstore.ErrTooMany) {
			t.Errorf("one too many: %v", err)
		}
		must(t, e.DeleteWebhook(t.Context(), f.app.ID, f.webhook.ID, noon))
		if err := add(f.webhook); !errors.Is(err, webhookstore.ErrTaken) {
			t.Errorf("the id of a deleted one: %v", err)
		}
		must(t, add(f.another(noon)))
		absent := f.another(noon)
		absent.AppID = "app_absent"
		if err := add(absent); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("an absent app: %v", err)
		}
	}},
	{"All webhooks, a few at a time", func(t *testing.T, e partnerkit.Store) {
		f, g := newWebhook(t, e), newWebhook(t, e)
		deleted := f.another(noon)
		must(t, e.CreateWebhook(t.Context(), deleted, maxWebhooks))
		must(t, e.DeleteWebhook(t.Context(), f.app.ID, deleted.ID, noon))
		var all []partner.Webhook
		for after := ""; ; after = all[len(all)-1].ID {
			one := get[[]partner.Webhook](t)(e.AllWebhooks(t.Context(), after, 1))
			if len(one) == 0 {
				break
			}
			all = append(all, one...)
		}
		want := []partner.Webhook{f.webhook, g.webhook}
		slices.SortFunc(want, func(a, b partner.Webhook) int { return strings.Compare(a.ID, b.ID) })
		if diff := cmp.Diff(want, all); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	// WH-04: a challenge is counted, goes to one node, and verifies the webhook that it was sent to.
	{"A webhook is challenged", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		hook := f.another(noon)
		hook.UnverifiedSince = noon
		must(t, e.CreateWebhook(t.Context(), hook, maxWebhooks))
		ask := func(webhookID string, at time.Time) (time.Duration, error) {
			return e.RequestChallenge(t.Context(), webhookstore.ChallengeRequest{
				AppID: f.app.ID, WebhookID: webhookID, Now: at, Limit: 2, Window: time.Hour, Check: func(now webhookstore.Standing) error {
					if !now.IsUnverified || !now.IsAppUsable || !now.IsEnabled {
						return errGate
					}
					return nil
				},
			})
		}
		for minute, want := range []time.Duration{0, 0, 58 * time.Minute, 57 * time.Minute} {
			if wait := get[time.Duration](t)(ask(hook.ID, noon.Add(time.Duration(minute)*time.Minute))); wait != want {
				t.Errorf("challenge %d: wait %v, want %v", minute, wait, want)
			}
		}
		if wait := get[time.Duration](t)(ask(hook.ID, noon.Add(time.Hour))); wait != 0 {
			t.Errorf("an hour later: wait %v", wait)
		}
		if _, err := ask(f.webhook.ID, noon); !errors.Is(err, errGate) {
			t.Errorf("the check fails: %v", err)
		}
		if _, err := ask("whk_absent", noon); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("an absent one: %v", err)
		}
		take := func() (all []webhookstore.Target) {
			for _, one := range get[[]webhookstore.Target](t)(e.TakeChallenges(t.Context(), 1000)) {
				if one.Webhook.AppID == f.app.ID {
					all = append(all, one)
				}
			}
			return all
		}
		if got := take(); len(got) != 1 || cmp.Diff(hook, got[0].Webhook) != "" || got[0].PinnedVersion != f.app.PinnedVersion {
			t.Fatalf("taken: %+v", got)
		}
		if got := take(); len(got) != 0 {
			t.Errorf("taken twice: %+v", got)
		}
		at := get[webhookstore.News](t)(e.News(t.Context(), nil)).Place
		look := func() partner.Webhook {
			return get[partner.Webhook](t)(oneWebhook(e)(t.Context(), f.app.ID, hook.ID))
		}
		for _, end := range []struct {
			since         time.Time
			failed        string
			wantSince     time.Time
			wantFailed    string
			wantTellNodes bool
		}{
			{noon.Add(-time.Hour), "of another URL", noon, "", false},
			{noon.Add(-time.Hour), "", noon, "", false},
			{noon, "timed out", noon, "timed out", false},
			{noon, "", time.Time{}, "", true},
			{noon, "late", time.Time{}, "", true},
		} {
			must(t, e.EndChallenge(t.Context(), hook.ID, end.since, end.failed))
			news := get[webhookstore.News](t)(e.News(t.Context(), at))
			told := slices.ContainsFunc(news.Webhooks, func(w webhookstore.DueWebhook) bool { return w.WebhookID == hook.ID })
			if got := look(); !got.UnverifiedSince.Equal(end.wantSince) || got.ChallengeError != end.wantFailed || told != end.wantTellNodes {
				t.Errorf("%+v: %v, %q, told %v", end, got.UnverifiedSince, got.ChallengeError, told)
			}
		}
	}},
	{"A webhook changes in one step", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		want := f.webhook
		want.URL, want.Events, want.Enabled, want.UpdatedAt = "https://app.example/new", []string{}, false, noon.Add(time.Minute)
		want.UnverifiedSince, want.ChallengeError = noon.Add(time.Minute), "timed out"
		want.Secrets = partner.Secrets{Secret: []byte("new"), Previous: f.webhook.Secret, PreviousExpiresAt: noon.Add(24 * time.Hour)}
		changed := get[partner.Webhook](t)(e.UpdateWebhook(t.Context(), f.app.ID, f.webhook.ID, func(before partner.Webhook) (partner.Webhook, error) {
			if diff := cmp.Diff(f.webhook, before); diff != "" {
				t.Errorf("before (-want +got)\n%s", diff)
			}
			next := want
			next.ID, next.AppID, next.CreatedAt = "whk_other", "app_other", noon.Add(time.Hour)
			return next, nil
		}))
		if _, err := e.UpdateWebhook(t.Context(), f.app.ID, f.webhook.ID, func(w partner.Webhook) (partner.Webhook, error) { w.URL = "never"; return w, errGate }); !errors.Is(err, errGate) {
			t.Errorf("a change that fails: %v", err)
		}
		stored := get[partner.Webhook](t)(oneWebhook(e)(t.Context(), f.app.ID, f.webhook.ID))
		for _, got := range []partner.Webhook{changed, stored} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		}
	}},
}
