//go:build linux

package hostile_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/seed"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// soakVar names the variable with the duration of the soak. make soak sets 10 minutes.
const soakVar = "PARTNERKIT_SOAK"

// The most that the usage of the process may grow between the warm-up and the end. The
// limiter, the caches and the database's pages grow up to their limits. The goroutines
// that send webhooks do not end once they were needed; there are at most 256.
const (
	moreMemory      = 96 << 20
	moreGoroutines  = 256 + 40
	moreDescriptors = 30
)

const soakApps, soakBusinesses = 8, 16

// A mixed load of partners, users and receivers gets correct responses and no internal
// errors for its whole duration. Afterwards the usage of the process is as before.
func TestSoak(t *testing.T) {
	testenv.Long(t)
	long, parts := 2*time.Second, 1
	if text := os.Getenv(soakVar); text != "" {
		var err error
		if long, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		parts = 4
	}
	var received atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/fails" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		received.Add(1)
	}))
	defer receiver.Close()
	data := newFixtures(soakApps, soakBusinesses)
	for i := range data.Apps {
		path := "/takes"
		if i%4 == 3 {
			path = "/fails"
		}
		data.Apps[i].Webhooks = []seed.Webhook{{
			ID: fmt.Sprintf("whk_%d", i), URL: receiver.URL + path, Events: []string{"invoice.created", "customer.created", "app.installed"},
			Secret: seed.Optional(fmt.Sprintf("whsec_of_app_%d", i)),
		}}
	}
	v := startVictim(t, data)
	p := proof.Begin(t, "Soak", "requests")
	s := &soak{victim: v, proof: p, data: data, counts: map[string]int{}}

	s.run(min(long/2, time.Minute)) // warms up
	warm := s.settle()
	t.Logf("after the warm-up: %v", warm)
	began, before := time.Now(), s.requests.Load()
	for part := range parts {
		s.run(long / time.Duration(parts))
		if part < parts-1 {
			t.Logf("after %v: %v", time.Since(began).Round(time.Second), v.usage())
		}
	}
	perSecond := float64(s.requests.Load()-before) / time.Since(began).Seconds()
	last := s.settle()
	t.Logf("at the end: %v", last)
	t.Logf("%.0f requests/s; %v; %d webhooks received", perSecond, s.counts, received.Load())
	p.Notef("%v, %.0f/s; %v; then %v", long, perSecond, warm, last)
	if last.RSS > warm.RSS+moreMemory || last.Goroutines > warm.Goroutines+moreGoroutines || last.Descriptors > warm.Descriptors+moreDescriptors {
		p.Violation("it grew by more than %d MiB, %d goroutines or %d descriptors", moreMemory>>20, moreGoroutines, moreDescriptors)
	}
	if received.Load() == 0 {
		p.Violation("no webhook arrived")
	}
	v.wantSilentLog(s.someSecrets()...)
}

// soak is the load.
type soak struct {
	*victim
	proof    *proof.Proof
	data     seed.Data
	requests atomic.Int64

	mu      sync.Mutex
	counts  map[string]int
	secrets []string
}

// run runs all clients at the same time for a while. Each partner has its own business.
func (s *soak) run(long time.Duration) {
	until := time.Now().Add(long)
	var wg sync.WaitGroup
	for i := range soakBusinesses {
		wg.Go(func() { s.partner(i, until) })
	}
	wg.Go(func() { s.nuisance(until) })
	wg.Wait()
}

// settle waits half a second for connections to close, and returns the usage.
func (s *soak) settle() servertest.Usage {
	var now servertest.Usage
	for range 5 {
		time.Sleep(100 * time.Millisecond)
		now = s.usage()
	}
	return now
}

// note counts a response and reports a wrong one.
func (s *soak) note(what string, got response, err error, want ...int) bool {
	s.requests.Add(1)
	s.proof.Tried(1)
	s.mu.Lock()
	s.counts[what]++
	s.mu.Unlock()
	if err != nil {
		s.proof.Violation("%s: %v", what, err)
		return false
	}
	for _, status := range want {
		if got.Status == status && status == http.StatusTooManyRequests {
			s.mu.Lock()
			s.counts["refused by a limit"]++
			s.mu.Unlock()
		}
		if got.Status == status {
			return true
		}
	}
	s.proof.Violation("%s: %v, want %v", what, got, want)
	return false
}

func (s *soak) keep(secrets ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.secrets) < 500 {
		s.secrets = append(s.secrets, secrets...)
	}
}

func (s *soak) someSecrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.secrets
}
