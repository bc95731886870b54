package inbox_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/examples/receiver/inbox"
)

// Work that fails comes back after pauses that grow, while others get their turn.
func TestFailingWork(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	synctest.Test(t, func(t *testing.T) {
		w := &worker{}
		failures := 12
		w.refuse = func(e inbox.Event) error {
			if e.ID == "evt_bad" && failures > 0 {
				failures--
				return errors.New("not now")
			}
			return nil
		}
		k := open(t, path, w.work)
		stop := k.run(t)
		k.send(t, delivery("bad"), http.StatusNoContent)
		synctest.Wait()
		k.send(t, delivery("good"), http.StatusNoContent)
		time.Sleep(2 * time.Hour)
		stop()
		if got := w.worked(); got != "evt_good evt_bad" {
			t.Errorf("worked on %s", got)
		}
		var last time.Duration
		for i := 3; i < len(w.times); i++ { // after both have had their turn
			pause := w.times[i].Sub(w.times[i-1])
			if pause < last || pause > 10*time.Minute+time.Second {
				t.Errorf("pause %d is %v after %v", i, pause, last)
			}
			last = pause
		}
		if last < 5*time.Minute {
			t.Errorf("the last pause is %v", last)
		}
	})
}

// A process that is asked to stop during the work marks it as done.
func TestStopDuringWork(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	ctx, stop := context.WithCancel(t.Context())
	k := open(t, path, func(context.Context, inbox.Event) error {
		stop()
		return nil
	})
	k.send(t, delivery("1"), http.StatusNoContent)
	if err := k.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if n, err := k.Pending(t.Context()); n != 0 || err != nil {
		t.Errorf("%d wait, %v", n, err)
	}
}
