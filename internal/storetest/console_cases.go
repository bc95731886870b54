package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// consoleCases test the records of the console itself.
var consoleCases = []testCase[partnerkit.Store]{
	// CON-07.
	{"The audit log comes back newest first, page by page", func(t *testing.T, e partnerkit.Store) {
		var want []audit.Entry
		for i := range 5 {
			entry := auditEntry("app_1", noon.Add(time.Duration(i)*time.Second))
			entry.ByDeveloper, entry.Target = i%2 == 0, ""
			must(t, e.RecordAudit(t.Context(), entry))
			must(t, e.RecordAudit(t.Context(), auditEntry("app_2", noon)))
			want = append(want, entry)
		}
		slices.Reverse(want)
		var got []audit.Entry
		for before := ""; ; before = got[len(got)-1].ID {
			page := get[[]audit.Entry](t)(e.Audit(t.Context(), audit.Query{AppID: "app_1", Before: before, Limit: 2}))
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	{"The audit log of organizations is about no app", func(t *testing.T, e partnerkit.Store) {
		var want []audit.Entry
		for i, target := range []string{"org_a", "org_b", "org_c", "org_a", "", "org_b"} {
			entry := auditEntry("", noon.Add(time.Duration(i)*time.Second))
			entry.Target = target
			must(t, e.RecordAudit(t.Context(), entry))
			if target == "org_a" || target == "org_b" {
				want = append(want, entry)
			}
		}
		ofApp := auditEntry("app_1", noon)
		ofApp.Target = "org_a"
		must(t, e.RecordAudit(t.Context(), ofApp))
		slices.Reverse(want)
		var got []audit.Entry
		for before := ""; ; before = got[len(got)-1].ID {
			page := get[[]audit.Entry](t)(e.Audit(t.Context(), audit.Query{OrganizationIDs: []string{"org_b", "org_a"}, Before: before, Limit: 3}))
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if none := get[[]audit.Entry](t)(e.Audit(t.Context(), audit.Query{OrganizationIDs: nil, Limit: 10})); len(none) != 0 {
			t.Errorf("of no organization: %v", none)
		}
	}},
	{"What comes too late leaves no audit entry", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		request, device := f.hold(t, allScopes), f.device(t, false)
		must(t, denied(e.DecideRequest(t.Context(), f.denial(request.ID, noon))))
		must(t, denied(e.DecideDevice(t.Context(), f.denial(device.ID, noon))))
		for _, err := range []error{
			denied(e.DecideRequest(t.Context(), f.denial(request.ID, noon))), denied(e.DecideDevice(t.Context(), f.denial(device.ID, noon))),
			e.EndGrant(t.Context(), f.endGrant()), f.end(t, partner.InstallationRemoved),
		} {
			if !errors.Is(err, partner.ErrNotFound) {
				t.Error(err)
			}
		}
		get[oauthstore.Approved](t)(e.DecideRequest(t.Context(), f.approval(request.ID, noon)))
		get[oauthstore.Approved](t)(e.DecideDevice(t.Context(), f.approval(device.ID, noon)))
		if log := get[[]audit.Entry](t)(e.Audit(t.Context(), audit.Query{AppID: f.app.ID, Limit: 10})); len(log) != 2 {
			t.Errorf("%d entries, want those of the two denials", len(log))
		}
	}},
	{"Old audit entries are purged, a few at a time", func(t *testing.T, e partnerkit.Store) {
		for range 5 {
			must(t, e.RecordAudit(t.Context(), auditEntry("app_1", noon.Add(-time.Second))))
		}
		kept := auditEntry("app_1", noon)
		must(t, e.RecordAudit(t.Context(), kept))
		for _, want := range []int{2, 2, 1, 0} {
			if n := get[int](t)(purge(e, storage.PurgeAudit)(t.Context(), noon, 2)); n != want {
				t.Errorf("purged %d, want %d", n, want)
			}
		}
		if diff := cmp.Diff([]audit.Entry{kept}, get[[]audit.Entry](t)(e.Audit(t.Context(), audit.Query{AppID: "app_1", Limit: 10}))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	// CON-02: only the apps of the requested organizations are listed.
	{"Apps of organizations, page by page", func(t *testing.T, e partnerkit.Store) {
		var want []partner.App
		for i, organization := range []string{"org_a", "org_b", "org_c", "org_a", "org_b", "", "org_a"} {
			f := newOAuth(t, e) // of org_1
			app := f.app
			app.ID, app.ClientID = id.New(id.App, noon.Add(time.Duration(i)*time.Second)), "second_"+f.app.ClientID
			app.OrganizationID = organization
			must(t, fixture.AddApp(t.Context(), e, app))
			if organization == "org_a" || organization == "org_b" {
				want = append(want, app)
			}
		}
		slices.Reverse(want)
		var got []partner.App
		for before := ""; ; before = got[len(got)-1].ID {
			page := get[[]partner.App](t)(e.Apps(t.Context(), partner.AppQuery{OrganizationIDs: []string{"org_b", "org_a"}, Before: before, Limit: 2}))
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(identity.Scopes.Equal)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		all, rest := 0, partner.AppQuery{All: true, OrganizationIDs: []string{"org_a"}, Limit: 3}
		for {
			page := get[[]partner.App](t)(e.Apps(t.Context(), rest))
			if len(page) == 0 {
				break
			}
			all, rest.Before = all+len(page), page[len(page)-1].ID
		}
		if all != 14 {
			t.Errorf("%d apps in all", all)
		}
		if none := get[[]partner.App](t)(e.Apps(t.Context(), partner.AppQuery{Limit: 10})); len(none) != 0 {
			t.Errorf("of no organization: %v", none)
		}
	}},
	// OPS-05
	{"Apps are found by the host of a redirect URI and by organizations", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		app := fixture.App(noon, f.app.Scopes)
		host := strings.ToLower(app.ID[4:]) + ".example"
		app.RedirectURIs, app.OrganizationID = []string{"https://other.example/cb", "https://" + host + ":8443/cb"}, "org_"+app.ID
		must(t, fixture.AddApp(t.Context(), e, app))
		for _, one := range []struct {
			text          string
			organizations []string
			want          bool
		}{
			{host, nil, true}, {strings.ToUpper(host), nil, true}, {host[1:], nil, false}, {host[:len(host)-1], nil, false}, {host + "/cb", nil, false}, {host + ":8443", nil, true},
			{"nothing else matches", []string{"org_none", app.OrganizationID}, true}, {"nothing else matches", []string{"org_none"}, false},
		} {
			found := get[[]partner.App](t)(e.Apps(t.Context(), partner.AppQuery{All: true, Text: one.text, TextOrganizations: one.organizations, Limit: 10}))
			if (len(found) == 1 && found[0].ID == app.ID) != one.want || !one.want && len(found) > 0 {
				t.Errorf("%+v: %v", one, found)
			}
		}
	}},
	{"CON-13 the version of an app, a webhook, a field and a listing grows with each change", func(t *testing.T, e partnerkit.Store) {
		f := newListing(t, e)
		appVersion := func() int64 { return get[partner.App](t)(e.App(t.Context(), f.app.ID)).Version }
		before := appVersion()
		changed := get[partner.App](t)(e.UpdateApp(t.Context(), f.app.ID, func(a partner.App) (partner.App, error) {
			a.Version = 99 // it is not the caller's to set
			return a, nil
		}))
		if changed.Version != before+1 || appVersion() != before+1 {
			t.Errorf("version %d became %d, stored %d", before, changed.Version, appVersion())
		}
		if locked := get[partner.App](t)(e.LockApp(t.Context(), f.app.ID)); locked.Version != before+1 {
			t.Errorf("the locked app has version %d", locked.Version)
		}
		if _, err := e.LockApp(t.Context(), "app_absent"); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("LockApp of no app: %v", err)
		}

		first := get[consolestore.Listing](t)(e.ChangeListing(t.Context(), f.app.ID, next(f.draft(slug()))))
		for want, state := range []consolestore.RevisionState{consolestore.RevisionSubmitted, consolestore.RevisionInReview, consolestore.RevisionApproved} {
			got := get[consolestore.Listing](t)(e.ChangeListing(t.Context(), f.app.ID, func(s consolestore.ListingStanding) (consolestore.Revision, error) {
				r := s.Listing.Revision
				r.State = state
				return r, nil
			}))
			if stored := get[consolestore.Listing](t)(e.Listing(t.Context(), f.app.ID)); first.Version != 1 || got.Version != int64(want+2) || stored.Version != got.Version {
				t.Errorf("%s: version %d, stored %d", state, got.Version, stored.Version)
			}
		}
		again := get[consolestore.Listing](t)(e.ChangeListing(t.Context(), f.app.ID, next(f.draft(slug()))))
		if stored := get[consolestore.Listing](t)(e.Listing(t.Context(), f.app.ID)); again.Version != 5 || stored.Version != 5 {
			t.Errorf("another revision: version %d, stored %d", again.Version, stored.Version)
		}

		hook := newWebhook(t, e)
		get[partner.Webhook](t)(e.UpdateWebhook(t.Context(), hook.app.ID, hook.webhook.ID, func(w partner.Webhook) (partner.Webhook, error) {
			w.Version += 7
			return w, nil
		}))
		if stored := get[partner.Webhook](t)(oneWebhook(e)(t.Context(), hook.app.ID, hook.webhook.ID)); stored.Version != hook.webhook.Version+7 {
			t.Errorf("the webhook has version %d", stored.Version)
		}
		data := newData(t, e)
		must(t, updateField(t.Context(), e, data.app.ID, data.field.ID, func(f valuestore.Field) (valuestore.Field, error) { f.Version += 7; return f, nil }))
		if stored := get[valuestore.Field](t)(oneField(e)(t.Context(), data.app.ID, data.field.ID)); stored.Version != data.field.Version+7 {
			t.Errorf("the field has version %d", stored.Version)
		}
	}},
	// CON-02: two changes at once, each of another member, lose none.
	{"Race to change an app", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newOAuth(t, e)
			testdb.Race(contenders, func(i int) {
				_, err := e.UpdateApp(t.Context(), f.app.ID, func(a partner.App) (partner.App, error) {
					if i%2 == 0 {
						a.Name += "."
					} else {
						a.AppURL += "."
					}
					return a, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
			got := get[partner.App](t)(e.App(t.Context(), f.app.ID))
			if len(got.Name)-len(f.app.Name) != contenders/2 || len(got.AppURL)-len(f.app.AppURL) != contenders/2 {
				t.Fatalf("of %d changes: name %q, App URL %q", contenders, got.Name, got.AppURL)
			}
		}
	}},
}

func auditEntry(appID string, at time.Time) audit.Entry {
	return audit.Entry{
		ID: id.New(id.Audit, at), AppID: appID, UserID: "usr_1", ByDeveloper: true, Action: "webhook.created", Target: "whk_1", At: at,
	}
}
