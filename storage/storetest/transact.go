package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

var errTransact = errors.New("storetest: the function fails")

// transactCases are several acts in one transaction.
var transactCases = []testCase[*Env]{
	{"Acts of one transaction commit together", func(t *testing.T, e *Env) {
		news, stop := e.Watch(sqlstore.TopicClock)
		defer stop()
		must(t, e.Transact(t.Context(), func(ctx context.Context) error {
			for range 2 {
				if _, err := e.AdvanceClock(ctx, time.Minute); err != nil {
					return err
				}
			}
			if inside, err := e.ClockOffset(ctx); err != nil || inside != 2*time.Minute {
				t.Errorf("inside: %v, %v", inside, err)
			}
			if err := e.RecordAudit(ctx, auditEntry("app_1", noon)); err != nil {
				return err
			}
			if log, err := e.Audit(ctx, "app_1", "", 10); err != nil || len(log) != 1 {
				t.Errorf("a list inside: %v, %v", log, err)
			}
			wantOffset(t, e, 0) // others do not see it yet
			wantNews(t, news, false)
			return nil
		}))
		wantOffset(t, e, 2*time.Minute)
		wantNews(t, news, true)
	}},
	{"A function that fails takes its acts with it", func(t *testing.T, e *Env) {
		news, stop := e.Watch(sqlstore.TopicClock)
		defer stop()
		err := e.Transact(t.Context(), func(ctx context.Context) error {
			if _, err := e.AdvanceClock(ctx, time.Minute); err != nil {
				return err
			}
			return errTransact
		})
		if !errors.Is(err, errTransact) {
			t.Errorf("Transact = %v", err)
		}
		wantOffset(t, e, 0)
		wantNews(t, news, false)
	}},
	{"A panic takes the acts with it", func(t *testing.T, e *Env) {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was lost")
				}
			}()
			_ = e.Transact(t.Context(), func(ctx context.Context) error {
				if _, err := e.AdvanceClock(ctx, time.Minute); err != nil {
					return err
				}
				panic("on purpose")
			})
		}()
		wantOffset(t, e, 0)
	}},
	{"An act that fails leaves the others of its transaction alone", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		request := f.hold(t, allScopes)
		must(t, e.Transact(t.Context(), func(ctx context.Context) error {
			if _, err := e.AdvanceClock(ctx, time.Minute); err != nil {
				return err
			}
			if err := e.CreateApp(ctx, f.app, nil); !errors.Is(err, oauthserver.ErrTaken) {
				t.Errorf("the same app again: %v", err)
			}
			// One that ends without an error has undone what it did.
			refused := f.approval(request.ID, noon)
			refused.Check = func(oauthserver.App) oauthserver.ApprovalOutcome { return oauthserver.ApprovalUnreviewed }
			if got, err := e.ApproveRequest(ctx, refused, newCode()); err != nil || got.Outcome != oauthserver.ApprovalUnreviewed {
				t.Errorf("%q, %v", got.Outcome, err)
			}
			_, err := e.AdvanceClock(ctx, time.Minute)
			return err
		}))
		wantOffset(t, e, 2*time.Minute)
	}},
	{"A statement that fails in one act can be survived", func(t *testing.T, e *Env) {
		entry := auditEntry("app_1", noon)
		f := newOAuth(t, e)
		f.code(t)
		must(t, e.RecordAudit(t.Context(), entry))
		must(t, e.Transact(t.Context(), func(ctx context.Context) error {
			if _, err := e.AdvanceClock(ctx, time.Minute); err != nil {
				return err
			}
			if err := e.RecordAudit(ctx, entry); err == nil {
				t.Error("two entries with one id")
			}
			// Its last statement travels with that which ends the act.
			again := f.endGrant()
			again.Audit = entry
			if err := e.EndGrant(ctx, again); err == nil {
				t.Error("two entries with one id")
			}
			_, err := e.AdvanceClock(ctx, time.Minute)
			return err
		}))
		wantOffset(t, e, 2*time.Minute)
		must(t, e.EndGrant(t.Context(), f.endGrant())) // it was undone
	}},
	{"A transaction inside another joins it", func(t *testing.T, e *Env) {
		advance := func(ctx context.Context) error {
			_, err := e.AdvanceClock(ctx, time.Minute)
			return err
		}
		must(t, e.Transact(t.Context(), func(ctx context.Context) error {
			must(t, advance(ctx))
			must(t, e.Transact(ctx, advance))
			err := e.Transact(ctx, func(ctx context.Context) error { return errors.Join(errTransact, advance(ctx)) })
			if !errors.Is(err, errTransact) {
				t.Errorf("the inner Transact = %v", err)
			}
			wantOffset(t, e, 0)
			return nil
		}))
		wantOffset(t, e, 2*time.Minute)
		tx, err := e.BeginTx(t.Context())
		must(t, err)
		must(t, e.WithTx(tx).Transact(t.Context(), func(ctx context.Context) error {
			return errors.Join(advance(ctx), e.RecordEvents(ctx, events.Event{ID: "evt_1", Type: "invoice.paid", BusinessID: "biz_1", Data: []byte("{}"), CreatedAt: noon}))
		}))
		must(t, tx.Rollback())
		wantOffset(t, e, 2*time.Minute)
	}},
	{"A context outlives its transaction in vain", func(t *testing.T, e *Env) {
		var left context.Context
		must(t, e.Transact(t.Context(), func(ctx context.Context) error {
			left = ctx
			return nil
		}))
		_, advanced := e.AdvanceClock(left, time.Minute)
		_, read := e.ClockOffset(left)
		_, listed := e.Audit(left, "app_1", "", 1)
		for _, err := range []error{
			advanced, read, listed, e.RecordAudit(left, auditEntry("app_1", noon)),
			e.Transact(left, func(context.Context) error { return nil }),
		} {
			if !errors.Is(err, storage.ErrTxDone) {
				t.Errorf("%v, want ErrTxDone", err)
			}
		}
		wantOffset(t, e, 0)
	}},
	{"Transact under faults", func(t *testing.T, e *Env) {
		var f *oauthFixture
		var entry audit.Entry
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newOAuth(t, e); entry = f.entry(audit.AppUpdated, noon) },
			Act: func(ctx context.Context) error {
				return e.Transact(ctx, func(ctx context.Context) error {
					_, err := e.UpdateApp(ctx, f.app.ID, func(a oauthserver.App) (oauthserver.App, error) {
						a.Name = "Changed"
						return a, nil
					})
					if err != nil {
						return err
					}
					return e.RecordAudit(ctx, entry)
				})
			},
			Check: func(t *testing.T, happened bool) {
				app, log := get[oauthserver.App](t)(e.App(t.Context(), f.app.ID)), get[[]audit.Entry](t)(e.Audit(t.Context(), f.app.ID, "", 10))
				if (app.Name == "Changed") != happened || (len(log) == 1) != happened {
					t.Errorf("happened %v: %q, %d entries", happened, app.Name, len(log))
				}
			},
		})
	}},
	{"Transactions of several acts at once", func(t *testing.T, e *Env) {
		Race(contenders, func(int) {
			err := e.Transact(t.Context(), func(ctx context.Context) error {
				if _, err := e.AdvanceClock(ctx, time.Minute); err != nil {
					return err
				}
				return e.RecordAudit(ctx, auditEntry("app_1", noon))
			})
			if err != nil {
				t.Error(err)
			}
		})
		wantOffset(t, e, contenders*time.Minute)
		if log := get[[]audit.Entry](t)(e.Audit(t.Context(), "app_1", "", 2*contenders)); len(log) != contenders {
			t.Errorf("%d entries of %d", len(log), contenders)
		}
	}},
}

func wantNews(t *testing.T, news <-chan struct{}, want bool) {
	t.Helper()
	select {
	case <-news:
		if !want {
			t.Error("a hint before the commit")
		}
	default:
		if want {
			t.Error("no hint after the commit")
		}
	}
}
