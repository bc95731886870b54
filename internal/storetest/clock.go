package storetest

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

var clockCases = []testCase[*Env]{
	{"Clock moves add up", func(t *testing.T, e *Env) {
		testdb.Race(8, func(int) {
			if _, err := e.AdvanceClock(t.Context(), time.Minute); err != nil {
				t.Error(err)
			}
		})
		wantOffset(t, e, 8*time.Minute)
		if _, err := e.AdvanceClock(t.Context(), -time.Second); err == nil {
			t.Error("the clock moved backwards")
		}
		if _, err := e.AdvanceClock(t.Context(), math.MaxInt64); err == nil {
			t.Error("the clock moved out of bounds")
		}
		wantOffset(t, e, 8*time.Minute)
	}},
	{"Clock move tells those who watch", func(t *testing.T, e *Env) {
		hints := e.Watch(sqlstore.TopicClock)
		defer hints.Stop()
		if _, err := e.AdvanceClock(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		select {
		case <-hints.C:
		default:
			t.Error("no hint after the commit")
		}
	}},
	{"Clock move under faults", func(t *testing.T, e *Env) {
		var want time.Duration
		EveryFault(t, e.Tap, Faulty{
			Act: func(ctx context.Context) error {
				_, err := e.AdvanceClock(ctx, time.Second)
				return err
			},
			Check: func(t *testing.T, happened bool) {
				if happened {
					want += time.Second
				}
				wantOffset(t, e, want)
			},
		})
	}},
}

func wantOffset(t *testing.T, e *Env, want time.Duration) {
	t.Helper()
	got, err := e.ClockOffset(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("clock offset %v, want %v", got, want)
	}
}
