package nodes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

const (
	// hooks is how many webhooks there are, to be on most of the 16 shards.
	hooks = 20
	// lease is how long deliveries of a node that is gone may wait (webhooks.Config),
	// and slack what it may take to catch up, on a machine that is busy.
	lease = 15 * time.Second
	slack = 5 * time.Second
	// handover is what a node that stops may cost.
	handover = 2 * time.Second
)

// receiver keeps when each event first came to each webhook.
type receiver struct {
	mu     sync.Mutex
	first  map[string]time.Time
	copies int
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var body struct{ EventID string }
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	now := time.Now()
	time.Sleep(20 * time.Millisecond) // so that a node is in the middle of some
	r.mu.Lock()
	defer r.mu.Unlock()
	key := body.EventID + req.URL.Path
	if _, known := r.first[key]; known {
		r.copies++
		return
	}
	r.first[key] = now
}

// worst is how long the slowest of the deliveries took, and how many have not come.
func (r *receiver) worst(recorded map[string]time.Time) (worst time.Duration, missing int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for event, at := range recorded {
		for hook := range hooks {
			came, ok := r.first[fmt.Sprintf("%s/%d", event, hook)]
			if !ok {
				missing++
				continue
			}
			worst = max(worst, came.Sub(at))
		}
	}
	return worst, missing
}

// fleet is a cluster that sends to a receiver.
type fleet struct {
	*cluster
	*receiver
}

// during records events for a second, at nodes that stay, and has something happen in
// the middle of it. It returns when all of them have come everywhere.
func (f fleet) during(p *proof.Proof, stay []*node, happen func()) (worst time.Duration) {
	f.Helper()
	recorded := map[string]time.Time{}
	began, happened := time.Now(), false
	for i := 0; time.Since(began) < time.Second; i++ {
		if !happened && time.Since(began) > 300*time.Millisecond {
			happen()
			happened = true
		}
		a := f.dev(stay[i%len(stay)], "events", fmt.Sprintf(`{"businessId": %q, "type": "invoice.created", "data": {"id": "inv_%d"}}`, f.business(0), i))
		recorded[a.member("id")] = time.Now()
		time.Sleep(5 * time.Millisecond)
	}
	missing := 0
	f.until("every event has come to every webhook", func() bool {
		worst, missing = f.worst(recorded)
		return missing == 0
	})
	p.Tried(len(recorded) * hooks)
	return worst
}

// DLV-05: whatever becomes of nodes in the middle of deliveries, the others send what
// was theirs, within the lease.
func TestDispatchers(t *testing.T) {
	f := fleet{receiver: &receiver{first: map[string]time.Time{}}}
	server := httptest.NewServer(f.receiver)
	t.Cleanup(server.Close)
	f.cluster = newCluster(t, func(tag string, data map[string]any) {
		var all []map[string]any
		for i := range hooks {
			all = append(all, map[string]any{
				"id": fmt.Sprintf("whk_%s%d", tag, i), "url": fmt.Sprintf("%s/%d", server.URL, i),
				"events": []string{"invoice.created"}, "secret": fmt.Sprintf("whsec_%s%d", tag, i),
			})
		}
		data["apps"].([]map[string]any)[0]["webhooks"] = all
	})
	f.connect(f.nodes[0], f.place(0, 0))
	waiting := proof.Begin(t, "Deliveries while nodes are killed and frozen", "deliveries")
	stopping := proof.Begin(t, "Deliveries while nodes stop", "deliveries")
	var slowest, handed time.Duration
	kills, freezes := 0, 0
	for round := range testenv.Rounds(1, 6) {
		stays, killed, frozen := round%size, (round+1)%size, (round+2)%size
		kill := func() {
			kills++
			if err := f.nodes[killed].Kill(); err != nil {
				t.Error(err)
			}
		}
		freeze := func() {
			freezes++
			if err := f.nodes[frozen].Signal(syscall.SIGSTOP); err != nil {
				t.Error(err)
			}
		}
		stay := []*node{f.nodes[stays]}
		happen := func() { kill(); freeze() }
		switch {
		case round%3 == 1:
			happen, stay = kill, append(stay, f.nodes[frozen])
		case round%3 == 2:
			happen, stay = freeze, append(stay, f.nodes[killed])
		}
		worst := f.during(waiting, stay, happen)
		slowest = max(slowest, worst)
		if testenv.Proving() && worst > lease+slack {
			waiting.Violation("a delivery waited for %v", worst)
		}
		if round%3 != 1 {
			if err := f.nodes[frozen].Signal(syscall.SIGCONT); err != nil {
				t.Error(err)
			}
		}
		if round%3 != 2 {
			if f.nodes[killed] = f.launch(); f.nodes[killed] == nil {
				t.FailNow()
			}
		}

		// Now one stops in good order.
		worst = f.during(stopping, []*node{f.nodes[killed], f.nodes[frozen]}, func() {
			if err := f.nodes[stays].Stop(); err != nil {
				t.Error(err)
			}
		})
		handed = max(handed, worst)
		if testenv.Proving() && worst > handover {
			stopping.Violation("a delivery waited for %v", worst)
		}
		if f.nodes[stays] = f.launch(); f.nodes[stays] == nil {
			t.FailNow()
		}
	}
	waiting.Notef("%d killed, %d frozen; the slowest took %.1f s, the lease is %.0f; %d came twice", kills, freezes, slowest.Seconds(), lease.Seconds(), f.copies)
	stopping.Notef("the slowest took %.1f s", handed.Seconds())
}
