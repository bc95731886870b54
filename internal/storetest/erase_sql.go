package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// sqlEraseCases need what only sqlstore has.
var sqlEraseCases = []testCase[*Env]{
	{"OPS-04 No column has the id of an erased user", func(t *testing.T, e *Env) {
		f := newOAuth(t, e).sameApp("the_erased_one")
		f.recordEverywhere(t)
		if had := e.TablesWith(t, f.user); len(had) != 8 {
			t.Errorf("the user is in %v, want all 8 tables that have user ids", had)
		}
		f.erase(t)
		if left := e.TablesWith(t, f.user); len(left) > 0 {
			t.Errorf("the id is in %v", left)
		}
	}},
	{"OPS-06 No column has the id of an erased business", func(t *testing.T, e *Env) {
		f := newSender(t, e)
		f.business = "the_erased_business_" + f.app.ID
		f.code(t) // installs
		f.planNext(t, 1)
		all := f.queued(t, 3)
		due := f.due(t, noon)
		get[webhookstore.Finished](t)(f.FinishAttempts(t.Context(), f.finish(f.outcome(due[0], partner.DeliveryDelivered, 200))))
		data := &dataFixture{oauthFixture: f.oauthFixture}
		data.field = data.declared(t, "shipment")
		get[[]valuestore.Value](t)(e.WriteValues(t.Context(), data.write(noon, drafts(data.field, noon, map[string]string{"inv_1": `"x"`, "inv_2": `"y"`}))))
		key := claim(newKey(), "work", start)
		key.CallerID, key.BusinessID = f.app.ID, f.business
		wantKey(t, e, key, owned)
		must(t, e.AddCalls(t.Context(), callstore.Batch{
			Writer: "writer_" + f.app.ID, Number: 1, At: noon,
			Groups:   []callstore.Group{{AppID: f.app.ID, By: callstore.ByBusiness, Day: noon.Truncate(24 * time.Hour), Key: f.business, Counts: callstore.Counts{Calls: 3}}, {AppID: f.app.ID, By: callstore.ByBusiness, Day: noon.Truncate(24 * time.Hour), Key: partner.ErasedBusiness, Counts: callstore.Counts{Calls: 2}}},
			Requests: []callstore.Request{{ID: id.New(id.Request, noon), AppID: f.app.ID, BusinessID: f.business, Method: "GET", Status: 200, At: noon}},
		}))
		change := func(detail string) audit.Entry {
			entry := f.entry(audited.AppUpdated, noon)
			entry.Target, entry.Detail = "", detail
			must(t, e.RecordAudit(t.Context(), entry))
			return entry
		}
		change("name: A → B; customBusinessId: none → " + f.business)
		named := change("customBusinessId: " + f.business + " → biz_1")
		erase := func(limit int) (total partner.BusinessErasure) {
			for part := (oauthstore.EraseBusiness{BusinessID: f.business, Now: noon, Limit: limit}); ; {
				done := get[oauthstore.ErasedBusinessPart](t)(e.EraseBusiness(t.Context(), part))
				total.Add(done.BusinessErasure)
				if done.Next == "" {
					return total
				}
				part.After = done.Next
			}
		}
		must(t, f.end(t, partner.InstallationRemoved))
		f.planNext(t, 2) // with the event of the app data
		done := erase(2)
		want := partner.BusinessErasure{AppData: 2, Keys: 1, AuditEntries: done.AuditEntries, Waiting: 1}
		if diff := cmp.Diff(want, done); diff != "" || done.AuditEntries < 2 {
			t.Errorf("while a redaction is due: (-want +got)\n%s", diff)
		}
		must(t, e.HastenRedactions(t.Context(), f.business, noon))
		get[int](t)(e.RecordRedactions(t.Context(), noon, 10, func(i partner.Installation) []partner.Event {
			return []partner.Event{{ID: id.New(id.Event, noon), Type: events.BusinessRedact, BusinessID: i.BusinessID, AppID: i.AppID, Data: []byte("{}"), CreatedAt: noon}}
		}))
		if done := erase(2); done != (partner.BusinessErasure{Waiting: 1}) {
			t.Errorf("while the notice is not planned: %+v", done)
		}
		of, _ := f.unplanned(t)
		notice := f.delivery(of.Events[0].ID, noon)
		f.planNext(t, 1, notice)
		if done := erase(2); done != (partner.BusinessErasure{Waiting: 1}) {
			t.Errorf("while the notice is queued: %+v", done)
		}
		for _, one := range f.due(t, noon) {
			if one.ID == notice.ID {
				get[webhookstore.Finished](t)(f.FinishAttempts(t.Context(), f.finish(f.outcome(one, partner.DeliveryDelivered, 200))))
			}
		}
		if done := erase(2); done.Deliveries != len(all)+1 || done.Events != 7 || done.Waiting != 0 {
			t.Errorf("after the notice: %+v", done)
		}
		if left := e.TablesWith(t, f.business); len(left) > 0 {
			t.Errorf("the id is in %v", left)
		}
		details := map[string]string{}
		for _, entry := range get[[]audit.Entry](t)(e.Audit(t.Context(), audit.Query{AppID: f.app.ID, Limit: 100})) {
			details[entry.ID] = entry.Detail
		}
		if got, want := details[named.ID], "customBusinessId: "+partner.ErasedBusiness+" → biz_1"; got != want {
			t.Errorf("detail %q, want %q", got, want)
		}
		change("customBusinessId: " + f.business + "0 → 0" + f.business) // other ids
		usage := get[[]callstore.Group](t)(e.CallGroups(t.Context(), callstore.GroupQuery{AppID: f.app.ID, By: callstore.ByBusiness, From: noon.AddDate(0, 0, -1), To: noon.AddDate(0, 0, 1), Limit: 10}))
		if len(usage) != 1 || usage[0].Key != partner.ErasedBusiness || usage[0].Calls != 5 {
			t.Errorf("usage: %+v", usage)
		}
		if done := erase(2); done != (partner.BusinessErasure{}) {
			t.Errorf("nothing is left: %+v", done)
		}
		f.code(t) // it may connect apps again
		f.planNext(t, 1)
	}},
	{"OPS-04 Erasing waits for a refresh", func(t *testing.T, e *Env) {
		e.killWaits(t, func(f *oauthFixture, _ oauthstore.RefreshToken) error {
			_, _, err := f.eraseIn(t.Context(), 10_000)
			return err
		})
	}},
	// The exchange has read that the user is active, and commits after the suspension.
	{"OPS-04 Erasing waits for an exchange", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		f.sameApp("other_" + f.user).code(t) // installs
		tx, err := e.BeginTx(t.Context())
		must(t, err)
		defer tx.Rollback()
		m := newTokens(noon)
		m.RefreshID = ""
		if got := get[oauthstore.IssueResult](t)(e.WithTx(tx).ExchangeSession(t.Context(), f.exchange(), m)); got.Outcome != oauthstore.Issued {
			t.Fatalf("exchange: %q", got.Outcome)
		}
		erased := inBackground(func() error {
			_, _, err := f.eraseIn(t.Context(), 10_000)
			return err
		})
		wantWaiting(t, erased)
		must(t, tx.Commit(t.Context()))
		must(t, <-erased)
		f.wantErased(t, m)
	}},
	{"OPS-04 Erasing under faults", func(t *testing.T, e *Env) {
		f := newOAuth(t, e).sameApp("the_erased_one")
		for n, struck := 1, true; struck; n++ {
			if n == maxFaults {
				t.Fatalf("still struck at place %d", n)
			}
			m := f.recordEverywhere(t)
			e.Tap.Arm(testdb.FaultError, n)
			_, _, err := f.eraseIn(t.Context(), 10_000) // as many statements each time
			struck = e.Tap.Struck()
			e.Tap.Reset()
			if struck != (err != nil) {
				t.Errorf("fault at %d: struck %v: %v", n, struck, err)
			}
			f.erase(t)
			f.wantLive(t, m, false)
			if left := e.TablesWith(t, f.user); len(left) > 0 {
				t.Errorf("fault at %d: the id is in %v", n, left)
			}
		}
	}},
}

// recordEverywhere makes a record with the user's id wherever the store keeps one, and
// returns the user's tokens.
func (f *oauthFixture) recordEverywhere(t *testing.T) oauthstore.NewTokens {
	t.Helper()
	m := f.issued(t)
	f.exchanged(t, true)
	f.exchanged(t, false)
	f.code(t)
	f.device(t, true)
	must(t, f.RecordAudit(t.Context(), f.entry(audited.AppUpdated, noon)))
	must(t, f.SetUserStatus(t.Context(), f.user, identity.UserRestricted, noon))
	key := claim(newKey(), "work", start)
	key.CallerID = keystore.UserCallerID(f.user)
	wantKey(t, f, key, owned)
	return m
}
