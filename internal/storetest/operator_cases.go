package storetest

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
)

// submit gives the app a listing that is in a state since a time, and returns its place in
// the review queue.
func (f *listingFixture) submit(t *testing.T, state consolestore.RevisionState, at time.Time) consolestore.QueuedReview {
	t.Helper()
	r := f.draft(slug())
	r.State, r.SubmittedAt, r.ReviewerID = state, at, "usr_staff"
	f.take(t, f.first(r))
	return consolestore.QueuedReview{
		AppID: f.app.ID, AppName: f.app.Name, OrganizationID: f.app.OrganizationID, ID: r.ID, ListingName: r.Name,
		State: state, ReviewerID: "usr_staff", SubmittedAt: at,
	}
}

func newTrustedDocument(host string, at time.Time) consolestore.TrustedDocument {
	return consolestore.TrustedDocument{ID: id.New(id.TrustedDocument, at), Host: host, CreatedAt: at}
}

// operatorCases test the operations that only the operator's side needs.
var operatorCases = []testCase[partnerkit.Store]{
	{"The review queue begins with the oldest submission", func(t *testing.T, e partnerkit.Store) {
		second := newListing(t, e).submit(t, consolestore.RevisionInReview, noon.Add(time.Minute))
		plain := newListing(t, e)
		submission := plain.submission(consolestore.RevisionSubmitted, noon.Add(time.Hour))
		must(t, e.SaveSubmission(t.Context(), submission))
		third := consolestore.QueuedReview{
			AppID: plain.app.ID, AppName: plain.app.Name, OrganizationID: plain.app.OrganizationID, ID: submission.ID,
			State: consolestore.RevisionSubmitted, ReviewerID: "usr_staff", SubmittedAt: submission.SubmittedAt,
		}
		must(t, e.SaveSubmission(t.Context(), newListing(t, e).submission(consolestore.RevisionApproved, noon)))
		first := newListing(t, e).submit(t, consolestore.RevisionSubmitted, noon)
		newListing(t, e).submit(t, consolestore.RevisionDraft, noon)
		ended := newListing(t, e)
		ended.submit(t, consolestore.RevisionSubmitted, noon)
		_, err := e.UpdateApp(t.Context(), ended.app.ID, func(a partner.App) (partner.App, error) {
			a.Status = partner.AppDeactivated
			return a, nil
		})
		must(t, err)
		for _, c := range []struct {
			after consolestore.QueuedReview
			limit int
			want  []consolestore.QueuedReview
		}{
			{consolestore.QueuedReview{}, 9, []consolestore.QueuedReview{first, second, third}},
			{consolestore.QueuedReview{}, 1, []consolestore.QueuedReview{first}},
			{first, 9, []consolestore.QueuedReview{second, third}},
			{second, 9, []consolestore.QueuedReview{third}},
			{third, 9, nil},
		} {
			if diff := cmp.Diff(c.want, get[[]consolestore.QueuedReview](t)(e.Reviews(t.Context(), c.after.SubmittedAt, c.after.ID, c.limit))); diff != "" {
				t.Errorf("%d after %q (-want +got)\n%s", c.limit, c.after.ID, diff)
			}
		}
	}},
	{"The last submission of each app comes back", func(t *testing.T, e partnerkit.Store) {
		one, two, none := newListing(t, e), newListing(t, e), newListing(t, e)
		first, of2 := one.submission(consolestore.RevisionRejected, noon), two.submission(consolestore.RevisionInReview, noon)
		last := one.submission(consolestore.RevisionSubmitted, noon.Add(time.Hour))
		last.App = partner.Profile{Name: "Other", AppURL: "https://other.example/"}
		for _, s := range []consolestore.Submission{first, of2, last} {
			must(t, e.SaveSubmission(t.Context(), s))
		}
		want := map[string]consolestore.Submission{one.app.ID: last, two.app.ID: of2}
		if diff := cmp.Diff(want, get[map[string]consolestore.Submission](t)(e.Submissions(t.Context(), one.app.ID, two.app.ID, none.app.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		listing := two.take(t, two.first(two.draft(slug())))
		if diff := cmp.Diff(map[string]consolestore.Listing{two.app.ID: listing}, get[map[string]consolestore.Listing](t)(e.Listings(t.Context(), one.app.ID, two.app.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	{"What a review covered comes back with the app", func(t *testing.T, e partnerkit.Store) {
		app := newOAuth(t, e).app
		covered := partner.Profile{Name: "Before", RedirectURIs: []string{"https://a.example/cb", "https://b.example/cb"}, Scopes: identity.MustScopes("invoices:read"), AppURL: "https://a.example/"}
		get[partner.App](t)(e.UpdateApp(t.Context(), app.ID, func(a partner.App) (partner.App, error) {
			a.ReviewedAs = covered
			return a, nil
		}))
		if diff := cmp.Diff(covered, get[partner.App](t)(e.App(t.Context(), app.ID)).ReviewedAs); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		locked := get[partner.App](t)(e.LockApp(t.Context(), app.ID))
		if diff := cmp.Diff(covered, locked.ReviewedAs); diff != "" {
			t.Errorf("locked (-want +got)\n%s", diff)
		}
	}},
	{"A trusted document comes back until it is removed", func(t *testing.T, e partnerkit.Store) {
		one, two := newTrustedDocument("one.example", noon), newTrustedDocument("two.example", noon.Add(time.Second))
		must(t, e.AddTrustedDocument(t.Context(), two))
		must(t, e.AddTrustedDocument(t.Context(), one))
		if diff := cmp.Diff([]consolestore.TrustedDocument{one, two}, get[[]consolestore.TrustedDocument](t)(e.TrustedDocuments(t.Context()))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(one, get[consolestore.TrustedDocument](t)(e.RemoveTrustedDocument(t.Context(), one.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if _, err := e.RemoveTrustedDocument(t.Context(), one.ID); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("again: %v", err)
		}
		if diff := cmp.Diff([]consolestore.TrustedDocument{two}, get[[]consolestore.TrustedDocument](t)(e.TrustedDocuments(t.Context()))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	{"Race for the trust in a host", func(t *testing.T, e partnerkit.Store) {
		var added atomic.Int32
		testdb.Race(contenders, func(int) {
			switch err := e.AddTrustedDocument(t.Context(), newTrustedDocument("agent.example", noon)); {
			case err == nil:
				added.Add(1)
			case !errors.Is(err, consolestore.ErrTrusted):
				t.Error(err)
			}
		})
		if added.Load() != 1 {
			t.Errorf("%d succeeded, want 1", added.Load())
		}
	}},
	{"Figures count what there is, and what happened since", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		f.failed(t, noon.Add(-2*time.Hour))
		f.failed(t, noon)
		f.waiting(t, noon)
		newListing(t, e).submit(t, consolestore.RevisionSubmitted, noon)
		now, before := bucket(f.app.ID, noon.Truncate(time.Hour)), bucket(f.app.ID, noon.Truncate(time.Hour).Add(-2*time.Hour))
		now.Counts = callstore.Counts{Calls: 5, Errors: 2, RateLimited: 1}
		must(t, e.AddCalls(t.Context(), batch("w", 1, now, before)))
		got := get[consolestore.Figures](t)(e.Figures(t.Context(), noon.Truncate(time.Hour).Add(-time.Hour)))
		got.FailingWebhooks = 0 // see the health of webhooks
		want := consolestore.Figures{
			Apps: map[partner.AppStatus]int{partner.AppActive: 2}, Installations: 1, Calls: 5, Errors: 2, RateLimited: 1,
			Deliveries: 2, FailedDeliveries: 1, QueuedDeliveries: 1, Reviews: 1,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		other := bucket("app_other", now.Hour)
		other.Counts = callstore.Counts{Calls: 7, RateLimited: 1, Errors: 1}
		must(t, e.AddCalls(t.Context(), batch("w", 2, other)))
		latency := now.Latency
		latency.Add(other.Latency)
		hours := []analytics.Hour{{Start: before.Hour, Counts: before.Counts, Latency: before.Latency}, {Start: now.Hour, Counts: callstore.Counts{Calls: 12, Errors: 3, RateLimited: 2}, Latency: latency}}
		if diff := cmp.Diff(hours, get[[]analytics.Hour](t)(e.CallHours(t.Context(), before.Hour))); diff != "" {
			t.Errorf("hours (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(hours[1:], get[[]analytics.Hour](t)(e.CallHours(t.Context(), now.Hour))); diff != "" {
			t.Errorf("hours since (-want +got)\n%s", diff)
		}
	}},
	{"The health of webhooks, of an app and of all that fail", func(t *testing.T, e partnerkit.Store) {
		healthy, failing := newWebhook(t, e), newWebhook(t, e)
		failing.failed(t, noon, partner.Attempt{Number: 1, StartedAt: noon, ResponseCode: 500})
		all := get[[]consolestore.WebhookHealth](t)(e.FailingWebhooks(t.Context(), 9))
		if len(all) != 1 || all[0].ID != failing.webhook.ID || all[0].FailingSince.IsZero() {
			t.Errorf("failing: %+v", all)
		}
		if n := get[consolestore.Figures](t)(e.Figures(t.Context(), noon)).FailingWebhooks; n != 1 {
			t.Errorf("%d webhooks fail, want 1", n)
		}
		want := []consolestore.WebhookHealth{{ID: healthy.webhook.ID, AppID: healthy.app.ID, URL: healthy.webhook.URL, Enabled: true}}
		if diff := cmp.Diff(want, get[[]consolestore.WebhookHealth](t)(e.WebhookHealth(t.Context(), healthy.app.ID, 9))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		must(t, e.DeleteWebhook(t.Context(), failing.app.ID, failing.webhook.ID, noon))
		if left := get[[]consolestore.WebhookHealth](t)(e.FailingWebhooks(t.Context(), 9)); len(left) != 0 {
			t.Errorf("deleted: %+v", left)
		}
	}},
}
