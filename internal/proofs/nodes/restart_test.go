package nodes_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// balancer distributes requests over the active nodes.
type balancer struct {
	mu    sync.Mutex
	nodes []*node
	turn  int
	again atomic.Int64 // connections that were refused, so that another node was asked
}

func (b *balancer) next() *node {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn++
	return b.nodes[b.turn%len(b.nodes)]
}

func (b *balancer) replace(old, with *node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var left []*node
	for _, n := range b.nodes {
		if n != old {
			left = append(left, n)
		}
	}
	if with != nil {
		left = append(left, with)
	}
	b.nodes = left
}

// RoundTrip sends a request to the next node. If the connection fails, nothing was sent
// and RoundTrip tries another node. Every other request must get a response.
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	for {
		r.URL.Host = strings.TrimPrefix(b.next().api, "http://")
		res, err := http.DefaultTransport.RoundTrip(r)
		if refused := new(net.OpError); err == nil || !errors.As(err, &refused) || refused.Op != "dial" {
			return res, err
		}
		b.again.Add(1)
		if r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			r.Body = body
		}
	}
}

// restartsOneByOne replaces each node under load. Every request gets a response, none with
// a 5xx, and every record that was created with a 201 exists once.
func (c *cluster) restartsOneByOne() {
	p := proof.Begin(c, "Rolling restarts of three nodes under load", "requests")
	front := &balancer{nodes: append([]*node(nil), c.nodes...)}
	client := &http.Client{Transport: front}
	const workers, app = 8, 9
	var created [workers]int
	var calls, bytes atomic.Int64 // as the clients count them
	stop := make(chan struct{})
	var wg sync.WaitGroup
	end := sync.OnceFunc(func() { close(stop); wg.Wait() })
	defer end() // also when a connection or a start fails
	for w := range workers {
		access := c.connect(c.nodes[w%size], c.place(app, w)).access
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				method, path, body := http.MethodGet, "/profile", ""
				if i%2 == 0 {
					method, path, body = http.MethodPost, "/invoices", fmt.Sprintf(`{"number": "R-%d-%d", "currency": "EUR", "total": 1}`, w, i)
				}
				a := c.send(client, c.request(method, "http://nodes"+path, body, "Authorization", "Bearer "+access,
					"Content-Type", "application/json", "Idempotency-Key", fmt.Sprintf("r-%d-%d", w, i)))
				p.Tried(1)
				calls.Add(1)
				bytes.Add(int64(len(a.Body)))
				switch a.Status {
				case http.StatusCreated:
					created[w]++
				case http.StatusOK, http.StatusTooManyRequests:
				default:
					p.Violation("%s %s: %v", method, path, a)
				}
			}
		})
	}
	restarts := 0
	for range testenv.Rounds(1, 10) {
		for i, old := range c.nodes {
			front.replace(old, nil)
			if err := old.Stop(); err != nil {
				p.Violation("a node that was asked to stop: %v", err)
			}
			if c.nodes[i] = c.launch(); c.nodes[i] == nil {
				break
			}
			front.replace(nil, c.nodes[i])
			restarts++
		}
	}
	end()
	total := 0
	for w, responded := range created {
		var n int
		if err := c.db.QueryRowContext(c.Context(), "SELECT COUNT(*) FROM books_invoice WHERE business_id = $1 AND number LIKE 'R-%'", c.business(w)).Scan(&n); err != nil || n != responded {
			p.Violation("%d invoices, %d answered with 201, %v", n, responded, err)
		}
		total += n
	}
	// AN-03: the nodes that have stopped lost nothing, the others write what they have counted.
	c.until("the usage agrees with what the clients have read, to the byte", func() bool {
		var counted, read int64
		err := c.db.QueryRowContext(c.Context(), "SELECT COALESCE(SUM(calls), 0), COALESCE(SUM(bytes), 0) FROM partnerkit_calls_group WHERE kind = 'business' AND app_id = $1", c.app(app)).
			Scan(&counted, &read)
		return err == nil && counted == calls.Load() && read == bytes.Load()
	})
	p.Notef("%d restarts, %d invoices, %d connections refused and made elsewhere", restarts, total, front.again.Load())
}

// makesCalls makes the calls that countsCalls finds in the console.
func (c *cluster) makesCalls() {
	const app = 8
	access := c.connect(c.nodes[0], c.place(app, 0)).access
	for _, path := range []string{"/profile", "/profile", "/invoices", "/payments"} { // the last is forbidden
		for _, a := range c.race(callsEach, func(n *node) response { return c.call(n, access, http.MethodGet, path, "") }) {
			if (a.Status == http.StatusForbidden) != (path == "/payments") {
				c.Errorf("%s: %v", path, a)
			}
		}
	}
}

const callsEach = 20

// AN-01: calls made over three nodes, some of which have ended since, are all counted.
func (c *cluster) countsCalls() {
	p := proof.Begin(c, "Calls over three nodes, counted", "calls")
	const app, calls, failed = 8, 4 * size * callsEach, size * callsEach
	developer := c.at(c.nodes[0], c.place(app, 0)).SignIn()
	for _, n := range c.nodes {
		var report struct {
			Totals struct{ Calls, Errors, RateLimited int }
		}
		a := c.console(n, developer, http.MethodGet, "apps/"+c.app(app)+"/analytics?days=2", "")
		if err := a.Decode(&report); err != nil {
			c.Fatalf("%v: %v", a, err)
		}
		p.Tried(calls)
		if got := report.Totals; got.Calls != calls || got.Errors != failed || got.RateLimited != 0 {
			p.Violation("%+v, want %d calls and %d errors", got, calls, failed)
		}
	}
}
