package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testenv"
)

// SIGTERM under load: every accepted request gets a response, the exit code is 0, and after
// a restart no acknowledged token, invoice, event or delivery is lost or duplicated
// (DLV-05, REF-07, BIZ-04).
func TestTermUnderLoad(t *testing.T) {
	t.Parallel()
	for range testenv.Rounds(1, 20) {
		arrived := newArrivals(t)
		db := filepath.Join(t.TempDir(), "books.db")
		before := startProcess(t, "-db", db, "-fixtures", withWebhook(t, arrived.url))
		l := newLoad(t, before)
		before.term()

		p := startProcess(t, "-db", db)
		l.begin(p)
		for l.responded.Load() < 1000 {
			time.Sleep(time.Millisecond)
		}
		p.term()
		l.workers.Wait()
		l.checkResponses()

		after := startProcess(t, "-db", db)
		l.check(after)
		arrived.check(t, after, l.events)
	}
}

// arrivals is a receiver that takes its time, so that attempts are under way at any
// moment.
type arrivals struct {
	url string
	mu  sync.Mutex
	of  map[string]int // by event
}

func newArrivals(t *testing.T) *arrivals {
	t.Helper()
	a := &arrivals{of: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.of[r.Header.Get("X-Webhook-Event-Id")]++
	}))
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

// check lets the process send what is left, and wants each event once: one that
// stops in order sends nothing twice.
func (a *arrivals) check(t *testing.T, p *process, events []string) {
	t.Helper()
	var missing []string
	for range 100 {
		p.move(0) // returns when all that is due is on its way
		a.mu.Lock()
		missing = slices.DeleteFunc(slices.Clone(events), func(id string) bool { return a.of[id] > 0 })
		a.mu.Unlock()
		if len(missing) == 0 {
			break
		}
	}
	if len(missing) > 0 {
		t.Errorf("%d events never arrived: %v", len(missing), missing)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, times := range a.of {
		if times > 1 {
			t.Errorf("event %s arrived %d times", id, times)
		}
	}
}
