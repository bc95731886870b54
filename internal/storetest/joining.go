package storetest

import (
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// joiningCases are operations inside a host's transaction.
var joiningCases = []testCase[*Env]{
	{"A joined act commits with its host", func(t *testing.T, e *Env) {
		hints := e.Watch(sqlstore.TopicClock)
		defer hints.Stop()
		tx, err := e.BeginTx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if _, err := e.WithTx(tx).AdvanceClock(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		inside, err := e.WithTx(tx).ClockOffset(t.Context())
		if err != nil || inside != time.Minute {
			t.Errorf("inside: %v, %v", inside, err)
		}
		wantOffset(t, e, 0)
		select {
		case <-hints.C:
			t.Error("a hint before the commit")
		default:
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantOffset(t, e, time.Minute)
		select {
		case <-hints.C:
		default:
			t.Error("no hint after the commit")
		}
	}},
	{"A joined act that fails leaves the host's transaction alone", func(t *testing.T, e *Env) {
		tx, err := e.BeginTx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		joined := e.WithTx(tx)
		if _, err := joined.AdvanceClock(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		e.Tap.Arm(testdb.FaultError, 2) // after the savepoint
		if _, err := joined.AdvanceClock(t.Context(), time.Hour); err == nil {
			t.Fatal("the fault did not strike")
		}
		if _, err := joined.AdvanceClock(t.Context(), time.Minute); err != nil {
			t.Fatalf("after a fault: %v", err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantOffset(t, e, 2*time.Minute)
	}},
	{"A rolled-back host takes the act with it", func(t *testing.T, e *Env) {
		tx, err := e.BeginTx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.WithTx(tx).AdvanceClock(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		wantOffset(t, e, 0)
	}},
	{"A closed store answers an error", func(t *testing.T, e *Env) {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if err := e.Ping(t.Context()); err == nil {
			t.Error("ping succeeded")
		}
		if _, err := e.AdvanceClock(t.Context(), time.Minute); err == nil {
			t.Error("a write succeeded")
		}
	}},
}
