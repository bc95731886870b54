package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// sqlTransactCases are the hints of transactions, and transactions of a host.
var sqlTransactCases = []testCase[*Env]{
	{"A transaction hints after its commit", func(t *testing.T, e *Env) {
		hints := e.Watch(sqlstore.TopicClock)
		defer hints.Stop()
		advance := func(fails error) func(ctx context.Context) error {
			return func(ctx context.Context) error {
				if _, err := e.AdvanceClock(ctx, time.Minute); err != nil {
					return err
				}
				if inside, err := e.ClockOffset(ctx); err != nil || inside != time.Minute {
					t.Errorf("inside: %v, %v", inside, err)
				}
				wantOffset(t, e, 0) // others do not see it yet
				wantNews(t, hints.C, false)
				return fails
			}
		}
		if err := e.Transact(t.Context(), advance(errTransact)); !errors.Is(err, errTransact) {
			t.Errorf("Transact = %v", err)
		}
		wantOffset(t, e, 0)
		wantNews(t, hints.C, false)
		must(t, e.Transact(t.Context(), advance(nil)))
		wantOffset(t, e, time.Minute)
		wantNews(t, hints.C, true)
	}},
	{"A transaction inside a host's joins it", func(t *testing.T, e *Env) {
		tx, err := e.BeginTx(t.Context())
		must(t, err)
		must(t, e.WithTx(tx).Transact(t.Context(), func(ctx context.Context) error {
			_, err := e.AdvanceClock(ctx, time.Minute)
			return errors.Join(err, e.RecordEvents(ctx, partner.Event{ID: "evt_1", Type: "invoice.paid", BusinessID: "biz_1", Data: []byte("{}"), CreatedAt: noon}))
		}))
		must(t, tx.Rollback())
		wantOffset(t, e, 0)
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
