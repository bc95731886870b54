package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

var errTransact = errors.New("storetest: the function fails")

// transactCases are several operations in one transaction.
var transactCases = []testCase[partnerkit.Store]{
	{"Operations of one transaction commit together", func(t *testing.T, e partnerkit.Store) {
		must(t, e.Transact(t.Context(), func(ctx context.Context) error {
			for range 2 {
				if err := e.RecordAudit(ctx, auditEntry("app_1", noon)); err != nil {
					return err
				}
			}
			if log, err := e.Audit(ctx, audit.Query{AppID: "app_1", Limit: 10}); err != nil || len(log) != 2 {
				t.Errorf("a list inside: %v, %v", log, err)
			}
			wantEntries(t, e, 0) // other contexts do not see the entries yet
			return nil
		}))
		wantEntries(t, e, 2)
	}},
	{"A function that fails takes its operations with it", func(t *testing.T, e partnerkit.Store) {
		err := e.Transact(t.Context(), func(ctx context.Context) error {
			if err := e.RecordAudit(ctx, auditEntry("app_1", noon)); err != nil {
				return err
			}
			return errTransact
		})
		if !errors.Is(err, errTransact) {
			t.Errorf("Transact = %v", err)
		}
		wantEntries(t, e, 0)
	}},
	{"A panic takes the operations with it", func(t *testing.T, e partnerkit.Store) {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was lost")
				}
			}()
			_ = e.Transact(t.Context(), func(ctx context.Context) error {
				if err := e.RecordAudit(ctx, auditEntry("app_1", noon)); err != nil {
					return err
				}
				panic("on purpose")
			})
		}()
		wantEntries(t, e, 0)
	}},
	{"An operation that fails leaves the others of its transaction alone", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		request := f.hold(t, allScopes)
		must(t, e.Transact(t.Context(), func(ctx context.Context) error {
			if err := e.RecordAudit(ctx, auditEntry("app_1", noon)); err != nil {
				return err
			}
			if err := fixture.AddApp(ctx, e, f.app); !errors.Is(err, oauthstore.ErrTaken) {
				t.Errorf("the same app again: %v", err)
			}
			// An operation that is refused without an error has undone what it did.
			refused := f.approval(request.ID, noon)
			refused.Check = func(partner.App) oauthstore.ApprovalOutcome { return oauthstore.ApprovalUnreviewed }
			if got, err := e.DecideRequest(ctx, refused); err != nil || got.Outcome != oauthstore.ApprovalUnreviewed {
				t.Errorf("%q, %v", got.Outcome, err)
			}
			return e.RecordAudit(ctx, auditEntry("app_1", noon))
		}))
		wantEntries(t, e, 2)
	}},
	{"An error in one operation can be survived", func(t *testing.T, e partnerkit.Store) {
		entry := auditEntry("app_2", noon)
		f := newOAuth(t, e)
		f.code(t)
		must(t, e.RecordAudit(t.Context(), entry))
		must(t, e.Transact(t.Context(), func(ctx context.Context) error {
			if err := e.RecordAudit(ctx, auditEntry("app_1", noon)); err != nil {
				return err
			}
			if err := e.RecordAudit(ctx, entry); err == nil {
				t.Error("two entries with one id")
			}
			// Its last statement travels with that which ends the operation.
			again := f.endGrant()
			again.Audit = entry
			if err := e.EndGrant(ctx, again); err == nil {
				t.Error("two entries with one id")
			}
			return e.RecordAudit(ctx, auditEntry("app_1", noon))
		}))
		wantEntries(t, e, 2)
		must(t, e.EndGrant(t.Context(), f.endGrant())) // it was undone
	}},
	{"A transaction inside another joins it", func(t *testing.T, e partnerkit.Store) {
		record := func(ctx context.Context) error { return e.RecordAudit(ctx, auditEntry("app_1", noon)) }
		must(t, e.Transact(t.Context(), func(ctx context.Context) error {
			must(t, record(ctx))
			must(t, e.Transact(ctx, record))
			err := e.Transact(ctx, func(ctx context.Context) error { return errors.Join(errTransact, record(ctx)) })
			if !errors.Is(err, errTransact) {
				t.Errorf("the inner Transact = %v", err)
			}
			wantEntries(t, e, 0)
			return nil
		}))
		wantEntries(t, e, 2)
	}},
	{"A context cannot be used after its transaction", func(t *testing.T, e partnerkit.Store) {
		var left context.Context
		must(t, e.Transact(t.Context(), func(ctx context.Context) error {
			left = ctx
			return nil
		}))
		_, listed := e.Audit(left, audit.Query{AppID: "app_1", Limit: 1})
		for _, err := range []error{
			listed, e.RecordAudit(left, auditEntry("app_1", noon)),
			e.Transact(left, func(context.Context) error { return nil }),
		} {
			if !errors.Is(err, storage.ErrTxDone) {
				t.Errorf("%v, want ErrTxDone", err)
			}
		}
		wantEntries(t, e, 0)
	}},
	{"Transactions of several operations at once", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		testdb.Race(contenders, func(int) {
			err := e.Transact(t.Context(), func(ctx context.Context) error {
				_, err := e.UpdateApp(ctx, f.app.ID, func(a partner.App) (partner.App, error) {
					a.Name += "+"
					return a, nil
				})
				if err != nil {
					return err
				}
				return e.RecordAudit(ctx, auditEntry("app_1", noon))
			})
			if err != nil {
				t.Error(err)
			}
		})
		if app := get[partner.App](t)(e.App(t.Context(), f.app.ID)); len(app.Name) != len(f.app.Name)+contenders {
			t.Errorf("the app is called %q", app.Name)
		}
		wantEntries(t, e, contenders)
	}},
}

// wantEntries counts the audit entries of the app of the cases above.
func wantEntries(t *testing.T, e partnerkit.Store, want int) {
	t.Helper()
	if log := get[[]audit.Entry](t)(e.Audit(t.Context(), audit.Query{AppID: "app_1", Limit: 2 * contenders})); len(log) != want {
		t.Errorf("%d entries, want %d", len(log), want)
	}
}
