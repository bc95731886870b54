package webhooks_test

import (
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
)

// BenchmarkIsolation records events at a steady rate, each for one of 1,000
// endpoints, and looks at how long it takes from the commit of an event to the 2xx of
// its endpoint: while only the endpoints that are well have work, and then while a
// tenth of all hangs, a tenth responds with 500, and all of these have a queue.
//
// The bar: the 99th percentile of those that are well is at most 3 times what it is
// without the others.
func BenchmarkIsolation(b *testing.B) {
	endpoints, long := sized(50, 1000), time.Duration(sized(500, 20_000))*time.Millisecond
	for b.Loop() {
		r := newReceiver(b, endpoints)
		s := newSender(b)
		targets := s.targets(r.urls)
		bad, well := targets[:endpoints/5], targets[endpoints/5:]
		stop := s.start()
		t := traffic{s: s, r: r, each: 2 * time.Second}
		t.run(well, long/4) // gets to know the endpoints
		alone := t.run(well, long/2)
		for range 5 {
			t.record(bad)
		}
		beside := t.run(targets, long)
		close(r.release)
		stop()
		ratio := beside.p99 / alone.p99
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(alone.p99, "alone-p99-ms")
		b.ReportMetric(beside.p99, "beside-p99-ms")
		b.ReportMetric(ratio, "beside/alone")
		b.Logf("p99 %.1f ms beside bad endpoints, %.2f times the %.1f ms without them; medians %.1f and %.1f ms, of %d and %d events",
			beside.p99, ratio, alone.p99, beside.median, alone.median, beside.events, alone.events)
		if hasBars() && ratio > 3 {
			b.Error("a bar is missed: beside/alone 3")
		}
	}
}

// receiver is many endpoints: of ten, the first hangs, the second responds with 500, and
// the others are well.
type receiver struct {
	urls    []string
	release chan struct{} // closed: receivers no longer hang
	mu      sync.Mutex
	arrived map[string]time.Time // events, at endpoints that are well
}

func newReceiver(b *testing.B, endpoints int) *receiver {
	r := &receiver{release: make(chan struct{}), arrived: map[string]time.Time{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/hangs", func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-r.release:
		case <-req.Context().Done():
		}
	})
	mux.HandleFunc("/fails", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	mux.HandleFunc("/well", func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		w.WriteHeader(http.StatusNoContent)
		r.mu.Lock()
		defer r.mu.Unlock()
		if event := req.Header.Get("X-Webhook-Event-Id"); r.arrived[event].IsZero() {
			r.arrived[event] = time.Now()
		}
	})
	r.urls = serve(b, endpoints, mux)
	for i := range r.urls {
		switch {
		case i < endpoints/10:
			r.urls[i] += "/hangs"
		case i < endpoints/5:
			r.urls[i] += "/fails"
		default:
			r.urls[i] += "/well"
		}
	}
	return r
}

// traffic records an event for each target, in turn, within a time.
type traffic struct {
	s    *sender
	r    *receiver
	each time.Duration
}

// latencies are from the commit of an event to its 2xx, in milliseconds.
type latencies struct {
	events      int
	median, p99 float64
}

// run goes on for a time and then waits until all has arrived that will.
func (t traffic) run(targets []target, long time.Duration) latencies {
	t.s.b.Helper()
	const pause = 20 * time.Millisecond
	committed := map[string]time.Time{}
	order := rand.Perm(len(targets))
	tick := time.NewTicker(pause)
	defer tick.Stop()
	owed := 0.0
	for end := time.Now().Add(long); time.Now().Before(end); <-tick.C {
		var due []target
		for owed += float64(len(targets)) * pause.Seconds() / t.each.Seconds(); owed >= 1; owed-- {
			due = append(due, targets[order[0]])
			order = append(order[1:], order[0])
		}
		if len(due) == 0 {
			continue
		}
		recorded := t.record(due)
		now := time.Now()
		for i, e := range recorded {
			if due[i].isWell() {
				committed[e.ID] = now
			}
		}
	}
	return t.await(committed)
}

func (t target) isWell() bool {
	return len(t.webhook.URL) > 5 && t.webhook.URL[len(t.webhook.URL)-5:] == "/well"
}

// record records an event for each target.
func (t traffic) record(targets []target) []events.Event {
	t.s.b.Helper()
	now := time.Now()
	recorded := make([]events.Event, len(targets))
	for i, to := range targets {
		recorded[i] = events.Event{ID: id.New(id.Event, now), Type: benchEvent, BusinessID: to.business, Data: []byte(`{}`), CreatedAt: now}
	}
	if err := t.s.RecordEvents(t.s.b.Context(), recorded...); err != nil {
		t.s.b.Fatal(err)
	}
	return recorded
}

func (t traffic) await(committed map[string]time.Time) latencies {
	t.s.b.Helper()
	var took []float64
	for end := time.Now().Add(30 * time.Second); len(took) < len(committed); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.s.b.Fatalf("%d of %d events have arrived", len(took), len(committed))
		}
		took = took[:0]
		t.r.mu.Lock()
		for event, at := range committed {
			if arrived, ok := t.r.arrived[event]; ok {
				took = append(took, arrived.Sub(at).Seconds()*1e3)
			}
		}
		t.r.mu.Unlock()
	}
	return latencies{events: len(took), median: quantile(took, 0.5), p99: quantile(took, 0.99)}
}
