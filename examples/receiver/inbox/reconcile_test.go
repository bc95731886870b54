package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/examples/receiver/inbox"
)

// history is a feed of events, in pages of two; what is before first has aged out.
type history struct {
	events []inbox.Event
	first  int
	broken int // the page that fails, counted down
}

var errBroken = errors.New("the line is dead")

func (h *history) Events(_ context.Context, after string) (inbox.Page, error) {
	if h.broken--; h.broken == 0 {
		return inbox.Page{}, errBroken
	}
	from := h.first
	if after != "" {
		from = 1 + slices.IndexFunc(h.events, func(e inbox.Event) bool { return e.ID == after })
		if from <= h.first {
			return inbox.Page{}, inbox.ErrUnknownCursor
		}
	}
	to := min(from+2, len(h.events))
	return inbox.Page{Events: h.events[from:to], HasMore: to < len(h.events)}, nil
}

func newHistory(n int) *history {
	h := &history{}
	for i := range n {
		h.events = append(h.events, inbox.Event{ID: fmt.Sprintf("evt_%d", i), Type: "invoice.created", BusinessID: "biz_1"})
	}
	return h
}

func (k *harness) reconcile(t *testing.T, feed inbox.Feed, want inbox.Report) {
	t.Helper()
	got, err := k.Reconcile(t.Context(), "biz_1", feed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// CLI-02: what no webhook brought is fetched, once; the place is kept across
// restarts, and for each business.
func TestReconcile(t *testing.T) {
	t.Parallel()
	w, path := &worker{}, newPath(t)
	h := newHistory(5)
	k := open(t, path, w.work)
	stop := k.run(t)
	k.send(t, delivery("2"), http.StatusNoContent)
	k.drain(t)
	k.reconcile(t, h, inbox.Report{Read: 5, Fresh: 4})
	k.drain(t)
	if got := w.worked(); got != "evt_2 evt_0 evt_1 evt_3 evt_4" {
		t.Errorf("worked on %s", got)
	}
	stop()
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}

	k = open(t, path, w.work)
	k.reconcile(t, h, inbox.Report{})
	h.events = append(h.events, newHistory(8).events[5:]...)
	k.reconcile(t, h, inbox.Report{Read: 3, Fresh: 3})
	if report, err := k.Reconcile(t.Context(), "biz_2", newHistory(1)); err != nil || report.Read != 1 || report.Restarted {
		t.Errorf("another business: %+v, %v", report, err)
	}
	k.send(t, delivery("7"), http.StatusNoContent) // late
	if n, err := k.Pending(t.Context()); n != 3 || err != nil {
		t.Errorf("%d wait, %v", n, err)
	}
}

// It goes on where it broke off, and skips nothing.
func TestReconcileBreaksOff(t *testing.T) {
	t.Parallel()
	k := open(t, newPath(t), (&worker{}).work)
	h := newHistory(5)
	h.broken = 2
	if report, err := k.Reconcile(t.Context(), "biz_1", h); !errors.Is(err, errBroken) || report.Read != 2 {
		t.Errorf("%+v, %v", report, err)
	}
	k.reconcile(t, h, inbox.Report{Read: 3, Fresh: 3})

	full := newHistory(150)
	if report, err := k.Reconcile(t.Context(), "biz_full", full); !errors.Is(err, inbox.ErrFull) || report.Read > 100 {
		t.Errorf("%+v, %v", report, err)
	}
	k.run(t)
	k.drain(t)
	if _, err := k.Reconcile(t.Context(), "biz_full", full); err != nil {
		t.Error(err)
	}
	k.drain(t)
}

// UNKNOWN_CURSOR: everything that is kept is read, nothing is worked on twice, and
// the lost place is not asked for again.
func TestReconcileLostPlace(t *testing.T) {
	t.Parallel()
	w := &worker{}
	k := open(t, newPath(t), w.work)
	h := newHistory(4)
	k.reconcile(t, h, inbox.Report{Read: 4, Fresh: 4})
	k.run(t)
	k.drain(t)
	h.first = 4 // all of it has aged out
	k.reconcile(t, h, inbox.Report{Restarted: true})
	k.reconcile(t, h, inbox.Report{})
	h.events = append(h.events, newHistory(6).events[4:]...)
	k.reconcile(t, h, inbox.Report{Read: 2, Fresh: 2})
	h.first = 1 // the place is known again, and what was read before is in it
	if _, err := k.Reconcile(t.Context(), "another", h); err != nil {
		t.Error(err)
	}
	k.drain(t)
	if got := w.worked(); got != "evt_0 evt_1 evt_2 evt_3 evt_4 evt_5" {
		t.Errorf("worked on %s", got)
	}
}

// A feed that always refuses does not keep the receiver busy.
func TestReconcileRefused(t *testing.T) {
	t.Parallel()
	k := open(t, newPath(t), (&worker{}).work)
	requests := 0
	refusing := feedFunc(func(_ context.Context, after string) (inbox.Page, error) {
		if requests++; after == "" && requests < 10 {
			return inbox.Page{Events: newHistory(1).events, HasMore: true}, nil
		}
		return inbox.Page{}, inbox.ErrUnknownCursor
	})
	if _, err := k.Reconcile(t.Context(), "biz_1", refusing); !errors.Is(err, inbox.ErrUnknownCursor) || requests != 4 {
		t.Errorf("%d requests, %v", requests, err)
	}
}

type feedFunc func(ctx context.Context, after string) (inbox.Page, error)

func (f feedFunc) Events(ctx context.Context, after string) (inbox.Page, error) { return f(ctx, after) }

// Ids are kept for as long as the sender may send them again, and not for ever.
func TestForgets(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	synctest.Test(t, func(t *testing.T) {
		w := &worker{}
		k := open(t, path, w.work)
		stop := k.run(t)
		for _, days := range []int{31, 5} {
			k.send(t, delivery("1"), http.StatusNoContent)
			time.Sleep(time.Duration(days) * 24 * time.Hour)
			k.reconcile(t, newHistory(0), inbox.Report{})
		}
		if got := w.worked(); got != "evt_1" {
			t.Errorf("after 31 days: worked on %s", got)
		}
		k.send(t, delivery("1"), http.StatusNoContent)
		synctest.Wait()
		if got := w.worked(); got != "evt_1 evt_1" {
			t.Errorf("after 36 days: worked on %s", got)
		}
		stop()
	})
}
