//go:build linux

package hostile_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/seed"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// The effect that the burst of one business may have on the others: their calls and
// webhooks may take slower times as long as without the burst, or as long as these limits.
const (
	slower       = 5
	slowestCall  = 250 * time.Millisecond // the 99th percentile; SQLite has one writer
	slowestHook  = time.Second            // the 99th percentile
	burstTimeout = 10 * time.Minute
)

// burst is a server with one business that has many apps and webhooks, and other
// businesses with one webhook each.
type burst struct {
	*victim
	p          *proof.Proof
	importer   string   // a token of the business that makes the burst
	bystanders []string // a token for each other business
	received   atomic.Int64

	mu      sync.Mutex
	created map[string]time.Time // when an invoice of a bystander got 201
	delays  []time.Duration      // from then until its webhook was received
}

// DLV-06: one bulk import in a business that 40 apps with 20 webhooks each have installed
// makes 160,000 deliveries. Calls and webhooks of other businesses go on as before.
func TestBurst_DLV06(t *testing.T) {
	testenv.Long(t)
	apps, hooks, invoices := 4, 10, 50
	if testenv.Proving() {
		apps, hooks, invoices = 40, 20, 200
	}
	t.Run("SQLite", func(t *testing.T) { testBurst(t, nil, apps, hooks, invoices) })
	t.Run("PostgreSQL", func(t *testing.T) {
		testBurst(t, []string{"PARTNERKIT_DB=" + testenv.PostgresURL(t)}, apps, hooks, invoices)
	})
}

func testBurst(t *testing.T, environment []string, apps, hooks, invoices int) {
	const bystanders = 10
	b := &burst{
		p:       proof.Begin(t, fmt.Sprintf("Calls beside a burst of %d deliveries, %s", apps*hooks*invoices, t.Name()[strings.Index(t.Name(), "/")+1:]), "calls"),
		created: map[string]time.Time{},
	}
	busy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		b.received.Add(1)
	}))
	defer busy.Close()
	quiet := httptest.NewServer(http.HandlerFunc(b.receive))
	defer quiet.Close()

	data := newFixtures(apps+1, bystanders+1)
	for i := range data.Apps {
		for j := range hooks {
			data.Apps[i].Webhooks = append(data.Apps[i].Webhooks, seed.Webhook{
				ID: fmt.Sprintf("whk_%d_%d", i, j), URL: fmt.Sprintf("%s/%d/%d", busy.URL, i, j), Events: []string{"invoice.created"}, Secret: "whsec_of_the_busy_ones",
			})
		}
	}
	last := &data.Apps[apps]
	last.Webhooks = []seed.Webhook{{ID: "whk_quiet", URL: quiet.URL, Events: []string{"invoice.created"}, Secret: "whsec_of_the_quiet_one"}}
	b.victim = startVictim(t, data, environment...)
	for _, a := range data.Apps[:apps] {
		_, got, err := b.connect(a, "usr_0", "biz_0")
		if err != nil {
			t.Fatal(err)
		}
		b.importer = got.access
	}
	for i := range bystanders {
		_, got, err := b.connect(*last, fmt.Sprintf("usr_%d", i+1), fmt.Sprintf("biz_%d", i+1))
		if err != nil {
			t.Fatal(err)
		}
		b.bystanders = append(b.bystanders, got.access)
	}

	enough := time.Now().Add(20 * time.Second)
	if !testenv.Proving() {
		enough = time.Now().Add(time.Second)
	}
	idle := b.measure(func() bool { return time.Now().After(enough) })
	b.burst(invoices)
	began, all := time.Now(), int64(apps*hooks*invoices)
	beside := b.measure(func() bool { return b.received.Load() >= all || time.Since(began) > burstTimeout })
	took := time.Since(began)

	b.p.Tried(idle.calls + beside.calls)
	b.p.Notef("%d deliveries in %.0f s; p99 of POST /invoices %v, without the burst %v; of its webhook %v, without %v",
		b.received.Load(), took.Seconds(), beside.call, idle.call, beside.hook, idle.hook)
	if got := b.received.Load(); got < all {
		b.p.Violation("%d of %d deliveries arrived", got, all)
	}
	if testenv.Proving() { // CI asserts no time
		if most := max(slower*idle.call, slowestCall); beside.call > most {
			b.p.Violation("a call took %v, at most %v is allowed", beside.call, most)
		}
		if most := max(slower*idle.hook, slowestHook); beside.hook > most {
			b.p.Violation("a webhook took %v, at most %v is allowed", beside.hook, most)
		}
	}
}

// burst imports invoices into the business that has many apps.
func (b *burst) burst(n int) {
	b.Helper()
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"number":"B-%d","currency":"EUR","total":100}`, i)
	}
	client := servertest.NewClient()
	defer client.CloseIdleConnections()
	got, err := send(client, http.MethodPost, b.API+"/invoices/bulk-import", "application/json", `{"invoices":[`+strings.Join(all, ",")+`]}`, "Authorization", "Bearer "+b.importer)
	if err != nil || got.Status != http.StatusCreated {
		b.Fatalf("import: %v, %v", got, err)
	}
}

// measured are 99th percentiles.
type measured struct {
	calls      int
	call, hook time.Duration
}

// measure creates 4 invoices per second in each quiet business until enough returns
// true, and waits for the webhooks.
func (b *burst) measure(enough func() bool) measured {
	b.Helper()
	b.delays = nil
	var mu sync.Mutex
	var calls []time.Duration
	var wg sync.WaitGroup
	for i, token := range b.bystanders {
		wg.Go(func() {
			client := servertest.NewClient()
			defer client.CloseIdleConnections()
			time.Sleep(time.Duration(i) * 25 * time.Millisecond)
			tick := time.NewTicker(250 * time.Millisecond)
			defer tick.Stop()
			for n := 0; !enough(); n++ {
				began := time.Now()
				got, err := send(client, http.MethodPost, b.API+"/invoices", "application/json", fmt.Sprintf(`{"number":"Q-%d-%d","currency":"EUR","total":100}`, i, n), "Authorization", "Bearer "+token)
				took := time.Since(began)
				if err != nil || got.Status != http.StatusCreated {
					b.p.Violation("POST /invoices: %v, %v", got, err)
				} else {
					b.responded(got.Text("id"), time.Now())
				}
				mu.Lock()
				calls = append(calls, took)
				mu.Unlock()
				<-tick.C
			}
		})
	}
	wg.Wait()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		b.mu.Lock()
		left := len(b.created)
		delays := slices.Clone(b.delays)
		b.mu.Unlock()
		if left == 0 {
			return measured{len(calls), p99(calls), p99(delays)}
		}
		if time.Now().After(end) {
			b.Fatalf("%d webhooks did not arrive", left)
		}
	}
}

func p99(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*99/100].Round(100 * time.Microsecond)
}

// answered and receive record the two times of an invoice, in either order.
func (b *burst) responded(invoice string, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.created[invoice]; ok {
		delete(b.created, invoice)
		b.delays = append(b.delays, 0)
		return
	}
	b.created[invoice] = at
}

func (b *burst) receive(w http.ResponseWriter, r *http.Request) {
	var body struct{ Data struct{ ID string } }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Data.ID == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok := b.created[body.Data.ID]
	if !ok {
		b.created[body.Data.ID] = time.Time{}
		return
	}
	delete(b.created, body.Data.ID)
	b.delays = append(b.delays, time.Since(at))
}
