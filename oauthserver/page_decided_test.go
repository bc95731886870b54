package oauthserver_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
)

// CON-07: each decision has one entry in the audit log, and none has one that was refused.
func TestDecided_CON07(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	for _, decision := range []string{"allow", "deny"} {
		p := b.ask(app).wantOK()
		b.submit(p, decision, withParam("business_id", "biz_bikes")).wantCallback(pageCallback)
		b.submit(p, decision, withParam("business_id", "biz_bikes")) // too late
	}
	for _, decision := range []string{"deny", "allow"} {
		p := b.enter(e.device(t, app).UserCode).wantOK()
		b.submit(p, decision).wantOK()
		b.submit(p, decision) // too late
	}
	refused := b.ask(app).wantOK()
	b.submit(refused, "maybe")
	b.submit(refused, "allow", withParam("business_id", "biz_guest"))
	for _, end := range []func() error{
		func() error { return e.server.RevokeConsent(t.Context(), app.ID, "biz_bikes", "usr_owner") },
		func() error { return e.server.Uninstall(t.Context(), app.ID, "biz_bikes", "usr_admin") },
		func() error { return e.server.RevokeAccess(t.Context(), app.ID, "biz_bakery", "") },
	} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if err := end(); err == nil {
			t.Error("it ended twice")
		}
	}
	log, err := e.Audit(t.Context(), audit.Query{AppID: app.ID, Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	want := []audit.Entry{
		{Action: audited.AccessRevoked, Target: "biz_bakery"},
		{Action: audited.Uninstalled, Target: "biz_bikes", UserID: "usr_admin"},
		{Action: audited.ConsentRevoked, Target: "biz_bikes", UserID: "usr_owner"},
		{Action: audited.DeviceAllowed, Target: "biz_bakery", UserID: "usr_owner"},
		{Action: audited.DeviceDenied, UserID: "usr_owner"},
		{Action: audited.ConsentDenied, UserID: "usr_owner"},
		{Action: audited.ConsentAllowed, Target: "biz_bikes", UserID: "usr_owner"},
	}
	for i := range want {
		want[i].AppID, want[i].At = app.ID, e.clock.Now()
	}
	byAction := cmpopts.SortSlices(func(a, b audit.Entry) bool { return a.Action < b.Action })
	if diff := cmp.Diff(want, log, byAction, cmpopts.IgnoreFields(audit.Entry{}, "ID")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// CON-07: a decision and its entry in the audit log commit together: with a fault at any
// statement, when the person leaves at any of them, and when the response to COMMIT is lost.
func TestDecisionAndEntry_CON07(t *testing.T) {
	t.Parallel()
	for name, open := range testdb.Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newPageEnvOn(t, open)
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			submit := func(p shownPage, decision string) func(context.Context) bool {
				return func(ctx context.Context) bool {
					b.ctx = ctx
					defer func() { b.ctx = nil }()
					return b.submit(p, decision).Status < 400
				}
			}
			connected := func(end func(ctx context.Context, appID, businessID, userID string) error) func() func(context.Context) bool {
				return func() func(context.Context) bool {
					app := e.app(t)
					b.submit(b.ask(app).wantOK(), "allow").wantCallback(pageCallback)
					return func(ctx context.Context) bool { return end(ctx, app.ID, "biz_bakery", "usr_owner") == nil }
				}
			}
			for name, prepare := range map[string]func() func(context.Context) bool{
				"allow": func() func(context.Context) bool { return submit(b.ask(e.app(t)).wantOK(), "allow") },
				"deny":  func() func(context.Context) bool { return submit(b.ask(e.app(t)).wantOK(), "deny") },
				"allow device": func() func(context.Context) bool {
					return submit(b.enter(e.device(t, e.app(t)).UserCode).wantOK(), "allow")
				},
				"deny device": func() func(context.Context) bool {
					return submit(b.enter(e.device(t, e.app(t)).UserCode).wantOK(), "deny")
				},
				"uninstall":      connected(e.server.Uninstall),
				"revoke access":  connected(e.server.RevokeAccess),
				"revoke consent": connected(e.server.RevokeConsent),
			} {
				e.EveryFaultAudited(t, prepare)
				if t.Failed() {
					t.Fatal(name)
				}
			}
		})
	}
}

// CON-07: a year of the audit log is kept.
func TestTidyPurgesAudit_CON07(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	record := func() {
		t.Helper()
		now := e.clock.Now()
		if err := e.RecordAudit(t.Context(), audit.Entry{ID: id.New(id.Audit, now), AppID: "app_1", Action: audited.Uninstalled, At: now}); err != nil {
			t.Fatal(err)
		}
	}
	for range 250 { // more than a batch
		record()
	}
	e.clock.Advance(audit.Retention - time.Millisecond)
	e.server.Tidy(t.Context())
	if n := e.count(t, "audit"); n != 250 {
		t.Errorf("%d entries are left before a year is over", n)
	}
	record()
	e.clock.Advance(2 * time.Millisecond)
	e.server.Tidy(t.Context())
	if n := e.count(t, "audit"); n != 1 {
		t.Errorf("%d entries are left after a year", n)
	}
}
