package nodes_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// perMinute is the limit of calls of an app for one business (LIM-01).
const perMinute = 300

// LIM-01, LIM-07: a window allows 300 calls in total across all nodes.
func (c *cluster) sharesLimits() {
	p := proof.Begin(c, "A limit of 300 a minute, shared by three nodes", "calls")
	windows, void := 0, 0
	for i := 0; windows < testenv.Rounds(1, businesses/2) && i < businesses; i++ {
		access := c.connect(c.nodes[i%size], c.place(0, i)).access
		first := c.profile(c.nodes[0], access)
		left, err := strconv.Atoi(first.Header.Get("RateLimit-Reset"))
		if err != nil {
			c.Fatalf("RateLimit-Reset: %v", first)
		}
		if left < 20 {
			continue // the window might end meanwhile; another business has another
		}
		outages, began := c.redisOutages(), time.Now()
		counts := tally(c.burst(1.5*perMinute, 24/(1+void), access)) // gently, where Redis is slow
		if c.redisOutages() != outages || time.Since(began) > time.Duration(left-1)*time.Second {
			void++ // Redis was too slow for a node, which counted by itself; or we were
			continue
		}
		windows++
		p.Tried(1 + 1.5*perMinute)
		if counts["200"] != perMinute-1 || counts["429 APP_RATE_LIMITED"] != 0.5*perMinute+1 || len(counts) != 2 {
			p.Violation("after one call: %v", counts)
		}
		for _, n := range c.nodes {
			if a := c.profile(n, access); a.Status != http.StatusTooManyRequests || a.Header.Get("RateLimit-Remaining") != "0" {
				p.Violation("a node lets pass what the others refuse: %v", a)
			}
		}
	}
	if windows == 0 {
		c.Errorf("no window was checked, %d void", void)
	}
	p.Notef("%d windows, %d void because Redis was slow", windows, void)
}

// burst makes calls at all nodes from many connections.
func (c *cluster) burst(calls, workers int, access string) []response {
	responses := make([]response, calls)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < calls; i += workers {
				responses[i] = c.profile(c.nodes[i%size], access)
			}
		})
	}
	wg.Wait()
	return responses
}

var outage = regexp.MustCompile(`(?m)^partnerkit_ratelimit_redis_unavailable_total(?:\{.*\})? (\d+)`)

// redisOutages returns how many checks got no response from Redis in time.
func (c *cluster) redisOutages() (sum int) {
	c.Helper()
	for _, n := range c.nodes {
		a := c.send(http.DefaultClient, c.request(http.MethodGet, n.Metrics, ""))
		for _, found := range outage.FindAllStringSubmatch(a.Body, -1) {
			count, err := strconv.Atoi(found[1])
			if err != nil {
				c.Fatal(err)
			}
			sum += count
		}
	}
	return sum
}

// LOCK-01, LOCK-02: a failure at any node counts at all nodes, and a lockout applies at all
// nodes.
func (c *cluster) sharesLockouts() {
	p := proof.Begin(c, "Lockouts of failed client authentication, shared by three nodes", "lockouts")
	right := c.client(1)
	for range testenv.Rounds(1, 10) {
		for _, lockout := range []struct {
			failures int
			as       func(i int) string
		}{
			{31, func(int) string { return right }},
			{101, func(i int) string { return fmt.Sprintf("nobody-%s-%d", c.tag, i) }},
		} {
			outages := c.redisOutages()
			caller := net.IPv4(127, 255, byte(rand.N(256)), byte(rand.N(256)))
			here := transport(func() net.IP { return caller })
			try := func(n *node, clientID, with string) response {
				r := c.request(http.MethodPost, n.api+"/oauth/token", "grant_type=refresh_token&refresh_token=x", "Content-Type", "application/x-www-form-urlencoded")
				r.SetBasicAuth(clientID, with)
				return c.send(&http.Client{Transport: here}, r)
			}
			var early []response
			for i := range lockout.failures {
				if a := try(c.nodes[i%size], lockout.as(i), "wrong"); !a.is(http.StatusUnauthorized, "invalid_client") {
					early = append(early, a)
				}
			}
			var open []response
			for _, n := range c.nodes {
				if a := try(n, right, secret); a.Status != http.StatusTooManyRequests {
					open = append(open, a)
				}
			}
			here.CloseIdleConnections()
			if c.redisOutages() != outages {
				continue
			}
			p.Tried(1)
			if len(early) > 0 || len(open) > 0 {
				p.Violation("after %d failures: locked too early %v, not locked %v", lockout.failures, early, open)
			}
			if a := c.refresh(c.nodes[0], c.place(1, 0), "x"); !a.is(http.StatusBadRequest, "invalid_grant") {
				p.Violation("another address is locked too: %v", a)
			}
		}
	}
}
