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
	// lease is how long the deliveries of a stopped node may wait (webhooks.Config), and
	// slack is the time to catch up on a busy machine.
	lease = 15 * time.Second
	slack = 5 * time.Second
	// handover is the longest delay that a node may cause by stopping.
	handover = 2 * time.Second
)

// receiver records when each event first arrived at each webhook.
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

// worst returns the time of the slowest delivery, and how many deliveries are missing.
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

// during records events for one second at nodes that stay, and calls a function in the
// middle of it. It returns when all events have arrived at all webhooks.
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
		recorded[a.Text("id")] = time.Now()
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

func (f fleet) check(err error) {
	if err != nil {
		f.Error(err)
	}
}

// replace starts a node in the place of one that has ended.
func (f fleet) replace(i int) {
	f.Helper()
	if f.nodes[i] = f.launch(); f.nodes[i] == nil {
		f.FailNow()
	}
}

// DLV-05: if a node stops, freezes or is killed during deliveries, the other nodes send
// its deliveries within the lease.
func TestDispatchers(t *testing.T) {
	testenv.Long(t)
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
		isKilled, isFrozen := round%3 != 2, round%3 != 1
		stay := []*node{f.nodes[stays]}
		if !isKilled {
			stay = append(stay, f.nodes[killed])
		}
		if !isFrozen {
			stay = append(stay, f.nodes[frozen])
		}
		worst := f.during(waiting, stay, func() {
			if isKilled {
				kills++
				f.check(f.nodes[killed].Kill())
			}
			if isFrozen {
				freezes++
				f.check(f.nodes[frozen].Signal(syscall.SIGSTOP))
			}
		})
		slowest = max(slowest, worst)
		if testenv.Proving() && worst > lease+slack {
			waiting.Violation("a delivery waited for %v", worst)
		}
		if isFrozen {
			f.check(f.nodes[frozen].Signal(syscall.SIGCONT))
		}
		if isKilled {
			f.replace(killed)
		}

		// Now one node shuts down cleanly. A node that died has its share of the free shards
		// until its lease ends, so this waits for the nodes that live to have shared them.
		if testenv.Proving() {
			time.Sleep(lease)
		}
		worst = f.during(stopping, []*node{f.nodes[killed], f.nodes[frozen]}, func() { f.check(f.nodes[stays].Stop()) })
		handed = max(handed, worst)
		if testenv.Proving() && worst > handover {
			stopping.Violation("a delivery waited for %v", worst)
		}
		f.replace(stays)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	waiting.Notef("%d killed, %d frozen; the slowest took %.1f s, the lease is %.0f; %d came twice", kills, freezes, slowest.Seconds(), lease.Seconds(), f.copies)
	stopping.Notef("the slowest took %.1f s", handed.Seconds())
}
