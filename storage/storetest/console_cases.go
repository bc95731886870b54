package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// consoleCases are what the console itself keeps and lists.
var consoleCases = []testCase[*Env]{
	// CON-07.
	{"The audit log comes back newest first, page by page", func(t *testing.T, e *Env) {
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
			page := get[[]audit.Entry](t)(e.Audit(t.Context(), "app_1", before, 2))
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	{"The audit log of organizations is about no app", func(t *testing.T, e *Env) {
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
			page := get[[]audit.Entry](t)(e.OrganizationAudit(t.Context(), []string{"org_b", "org_a"}, before, 3))
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if none := get[[]audit.Entry](t)(e.OrganizationAudit(t.Context(), nil, "", 10)); len(none) != 0 {
			t.Errorf("of no organization: %v", none)
		}
	}},
	{"Audit entries under faults", func(t *testing.T, e *Env) {
		var entry audit.Entry
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(*testing.T) { entry = auditEntry(id.New(id.App, noon), noon) },
			Act:     func(ctx context.Context) error { return e.RecordAudit(ctx, entry) },
			Check: func(t *testing.T, happened bool) {
				if n := len(get[[]audit.Entry](t)(e.Audit(t.Context(), entry.AppID, "", 2))); (n == 1) != happened {
					t.Errorf("happened %v: %d entries", happened, n)
				}
			},
		})
	}},
	// CON-07: what people decide about an app is in its log, or did not happen.
	{"Decisions and their audit entries happen together", func(t *testing.T, e *Env) {
		decisions := map[string]func(*oauthFixture) func(context.Context) error{
			"allow": func(f *oauthFixture) func(context.Context) error {
				request, code := f.hold(t, allScopes), newCode()
				return func(ctx context.Context) error {
					approved, err := e.ApproveRequest(ctx, f.approval(request.ID, noon), code)
					return outcome(err, approved.Outcome == oauthserver.ApprovalDone)
				}
			},
			"deny": func(f *oauthFixture) func(context.Context) error {
				request := f.hold(t, allScopes)
				return func(ctx context.Context) error { return e.DenyRequest(ctx, f.denial(request.ID, noon)) }
			},
			"allow a device": func(f *oauthFixture) func(context.Context) error {
				device := f.device(t, false)
				return func(ctx context.Context) error {
					approved, err := e.ApproveDevice(ctx, f.approval(device.ID, noon))
					return outcome(err, approved.Outcome == oauthserver.ApprovalDone)
				}
			},
			"deny a device": func(f *oauthFixture) func(context.Context) error {
				device := f.device(t, false)
				return func(ctx context.Context) error { return e.DenyDevice(ctx, f.denial(device.ID, noon)) }
			},
			"revoke a consent": func(f *oauthFixture) func(context.Context) error {
				f.code(t)
				return func(ctx context.Context) error { return e.EndGrant(ctx, f.endGrant()) }
			},
			"uninstall": func(f *oauthFixture) func(context.Context) error {
				f.code(t)
				return func(ctx context.Context) error { return f.endIn(ctx, oauthserver.InstallationRemoved) }
			},
		}
		for name, prepare := range decisions {
			t.Log(name)
			e.EveryFaultAudited(t, func() func(context.Context) bool {
				decide := prepare(newOAuth(t, e))
				return func(ctx context.Context) bool { return decide(ctx) == nil }
			})
		}
	}},
	{"What comes too late leaves no audit entry", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		request, device := f.hold(t, allScopes), f.device(t, false)
		must(t, e.DenyRequest(t.Context(), f.denial(request.ID, noon)))
		must(t, e.DenyDevice(t.Context(), f.denial(device.ID, noon)))
		for _, err := range []error{
			e.DenyRequest(t.Context(), f.denial(request.ID, noon)), e.DenyDevice(t.Context(), f.denial(device.ID, noon)),
			e.EndGrant(t.Context(), f.endGrant()), f.end(t, oauthserver.InstallationRemoved),
		} {
			if !errors.Is(err, oauthserver.ErrNotFound) {
				t.Error(err)
			}
		}
		get[oauthserver.Approved](t)(e.ApproveRequest(t.Context(), f.approval(request.ID, noon), newCode()))
		get[oauthserver.Approved](t)(e.ApproveDevice(t.Context(), f.approval(device.ID, noon)))
		if log := get[[]audit.Entry](t)(e.Audit(t.Context(), f.app.ID, "", 10)); len(log) != 2 {
			t.Errorf("%d entries, want those of the two denials", len(log))
		}
	}},
	{"Old audit entries are purged, a few at a time", func(t *testing.T, e *Env) {
		for range 5 {
			must(t, e.RecordAudit(t.Context(), auditEntry("app_1", noon.Add(-time.Second))))
		}
		kept := auditEntry("app_1", noon)
		must(t, e.RecordAudit(t.Context(), kept))
		for _, want := range []int{2, 2, 1, 0} {
			if n := get[int](t)(e.PurgeAudit(t.Context(), noon, 2)); n != want {
				t.Errorf("purged %d, want %d", n, want)
			}
		}
		if diff := cmp.Diff([]audit.Entry{kept}, get[[]audit.Entry](t)(e.Audit(t.Context(), "app_1", "", 10))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	// CON-02: those of the organizations that were asked for, and no others.
	{"Apps of organizations, page by page", func(t *testing.T, e *Env) {
		var want []oauthserver.App
		for i, organization := range []string{"org_a", "org_b", "org_c", "org_a", "org_b", "", "org_a"} {
			f := newOAuth(t, e) // of org_1
			app := f.app
			app.ID, app.ClientID = id.New(id.App, noon.Add(time.Duration(i)*time.Second)), "second_"+f.app.ClientID
			app.OrganizationID = organization
			must(t, e.CreateApp(t.Context(), app, nil))
			if organization == "org_a" || organization == "org_b" {
				want = append(want, app)
			}
		}
		slices.Reverse(want)
		var got []oauthserver.App
		for before := ""; ; before = got[len(got)-1].ID {
			page := get[[]oauthserver.App](t)(e.OrganizationApps(t.Context(), []string{"org_b", "org_a"}, before, 2))
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(identity.Scopes.Equal)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if none := get[[]oauthserver.App](t)(e.OrganizationApps(t.Context(), nil, "", 10)); len(none) != 0 {
			t.Errorf("of no organization: %v", none)
		}
	}},
	// CON-02: two changes at once, each of another member, lose none.
	{"Race to change an app", func(t *testing.T, e *Env) {
		for range rounds() {
			f := newOAuth(t, e)
			Race(contenders, func(i int) {
				_, err := e.UpdateApp(t.Context(), f.app.ID, func(a oauthserver.App) (oauthserver.App, error) {
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
			got := get[oauthserver.App](t)(e.App(t.Context(), f.app.ID))
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
