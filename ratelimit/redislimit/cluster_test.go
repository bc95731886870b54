package redislimit_test

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/ratelimit/limittest"
	"github.com/partnerkit/partnerkit/ratelimit/redislimit"
)

// slots is how many hash slots a cluster has.
const slots = 16384

// cluster is a Redis Cluster of three masters for one test alone.
type cluster struct {
	t     *testing.T
	addrs []string
	run   []func() *exec.Cmd
	cmds  []*exec.Cmd
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	testenv.Programs(t, "redis-server")
	c := &cluster{t: t, cmds: make([]*exec.Cmd, 3)}
	var buses []string
	for i := range 3 {
		dir, ports := t.TempDir(), freePorts(t, 2)
		c.addrs, buses = append(c.addrs, net.JoinHostPort("127.0.0.1", ports[0])), append(buses, ports[1])
		c.run = append(c.run, func() *exec.Cmd {
			return exec.CommandContext(context.Background(), "redis-server", "--bind", "127.0.0.1", "--port", ports[0], "--cluster-port", ports[1], //nolint:gosec // the test's own words
				"--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--cluster-config-file", "nodes.conf", "--dir", dir, "--save", "", "--appendonly", "no")
		})
		c.start(i)
	}
	t.Cleanup(func() {
		for i := range c.cmds {
			c.kill(i)
		}
	})
	for i, addr := range c.addrs {
		c.on(addr, func(node *redis.Client) error {
			return node.ClusterAddSlotsRange(t.Context(), i*slots/3, (i+1)*slots/3-1).Err()
		})
	}
	c.on(c.addrs[0], func(node *redis.Client) error {
		for i := 1; i < 3; i++ {
			host, port, _ := net.SplitHostPort(c.addrs[i])
			if err := node.Do(t.Context(), "cluster", "meet", host, port, buses[i]).Err(); err != nil {
				return err
			}
		}
		return nil
	})
	c.await()
	return c
}

// freePorts returns ports that nobody listens on.
func freePorts(t *testing.T, n int) (ports []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // after the others were picked
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return ports
}

func (c *cluster) start(at int) {
	c.t.Helper()
	c.cmds[at] = c.run[at]()
	if err := c.cmds[at].Start(); err != nil {
		c.t.Fatal(err)
	}
	c.on(c.addrs[at], func(node *redis.Client) error { return node.Ping(c.t.Context()).Err() })
}

func (c *cluster) kill(at int) {
	_ = c.cmds[at].Process.Kill()
	_ = c.cmds[at].Wait()
}

// on calls do with a client of one node until it succeeds.
func (c *cluster) on(addr string, do func(node *redis.Client) error) {
	c.t.Helper()
	node := redis.NewClient(&redis.Options{Addr: addr})
	defer node.Close()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := do(node)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatal(err)
		}
	}
}

// await returns when every node takes the cluster for complete.
func (c *cluster) await() {
	c.t.Helper()
	for _, addr := range c.addrs {
		c.on(addr, func(node *redis.Client) error {
			info, err := node.ClusterInfo(c.t.Context()).Result()
			if err == nil && !(strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")) {
				err = fmt.Errorf("%s: %s", addr, info)
			}
			return err
		})
	}
}

func (c *cluster) dial(opts redis.ClusterOptions) *redis.ClusterClient {
	c.t.Helper()
	opts.Addrs, opts.ContextTimeoutEnabled, opts.MaxRetries = c.addrs, true, -1
	client := redis.NewClusterClient(&opts)
	c.t.Cleanup(func() { client.Close() })
	return client
}

// newClusterLimiter returns a limiter without counts that fails rather than guesses.
func newClusterLimiter(t *testing.T, client *redis.ClusterClient, prefix string) *redislimit.Limiter {
	t.Helper()
	return open(t, redislimit.Config{Client: client, Prefix: prefix, Timeout: 30 * time.Second, OnFailure: redislimit.FailClosed})
}

// The limiter keeps its rules on a Redis Cluster.
func TestCluster_LIM07(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	client := c.dial(redis.ClusterOptions{})
	var made atomic.Int64
	limittest.Run(t, func(t *testing.T) ratelimit.Limiter {
		return newClusterLimiter(t, client, fmt.Sprint("test:", made.Add(1), ":"))
	})
}

// A check is at most one round trip for each node of the cluster.
func TestClusterRoundTrips_LIM07(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	trips := &roundTrips{of: map[string]int{}}
	client := c.dial(redis.ClusterOptions{})
	client.OnNewNode(func(node *redis.Client) { node.AddHook(trips.at(node.Options().Addr)) })
	limiter := newClusterLimiter(t, client, "trips:")
	limits := ratelimit.Limit{Count: 1000, Window: time.Minute}
	now := time.Now()
	for i := range 40 {
		var req ratelimit.Request
		for n := range req.Counters {
			req.Counters[n] = ratelimit.Counter{Key: ratelimit.NewKey("counter", fmt.Sprint(i, n)), Limit: limits}
		}
		for n := range req.Lockouts {
			req.Lockouts[n] = ratelimit.Lockout{Key: ratelimit.NewKey("lockout", fmt.Sprint(i, n)), Rule: ratelimit.LockoutRule{MoreThan: 3, Within: time.Minute, For: time.Minute}}
		}
		trips.reset()
		if _, err := limiter.Check(t.Context(), now, req); err != nil {
			t.Fatal(err)
		}
		if i < 10 { // the first ones make connections and load scripts
			continue
		}
		for node, n := range trips.reset() {
			if n > 1 {
				t.Errorf("check %d: %d round trips to %s", i, n, node)
			}
		}
	}
}

// roundTrips counts what goes to each node.
type roundTrips struct {
	mu sync.Mutex
	of map[string]int
}

func (r *roundTrips) reset() (before map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, r.of = r.of, map[string]int{}
	return before
}

func (r *roundTrips) at(node string) redis.Hook { return tripsTo{r, node} }

type tripsTo struct {
	r    *roundTrips
	node string
}

func (h tripsTo) count() {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	h.r.of[h.node]++
}

func (h tripsTo) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h tripsTo) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.count()
		return next(ctx, cmd)
	}
}
func (h tripsTo) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		h.count()
		return next(ctx, cmds)
	}
}

// TestFailoverOfClusterNode kills one of three masters. Meanwhile every check has a result, counted by
// each node of ours on its own. When the master is back, the nodes count together.
func TestFailoverOfClusterNode_LIM07(t *testing.T) {
	t.Parallel()
	p := proof.Begin(t, "A master of a Redis Cluster killed under load", "checks")
	c := startCluster(t)
	load := newLoad(p, func() *redislimit.Limiter {
		return open(t, redislimit.Config{Client: c.dial(redis.ClusterOptions{MaxRedirects: 1}), Timeout: time.Second})
	})
	for round := range testenv.Rounds(1, 3) {
		load.countsTogether(fmt.Sprint("before ", round))
		c.kill(round % 3)
		load.goesOn(fmt.Sprint("killed ", round))
		c.start(round % 3)
		c.await()
		load.countsTogether(fmt.Sprint("after ", round))
	}
}

// load checks the same keys at two nodes of ours.
type load struct {
	p     *proof.Proof
	nodes [2]*redislimit.Limiter
}

func newLoad(p *proof.Proof, node func() *redislimit.Limiter) *load {
	return &load{p, [2]*redislimit.Limiter{node(), node()}}
}

// loadLimit is that of each key.
const loadLimit = 50

// use checks each of 30 keys 60 times at both nodes together, and returns how often each was
// allowed.
func (l *load) use(phase string) (allowed []int64) {
	now := time.Now()
	counts := make([]atomic.Int64, 30)
	var wg sync.WaitGroup
	for i := range counts {
		for n := range 4 {
			wg.Go(func() {
				for range 15 {
					var req ratelimit.Request
					req.Counters[0] = ratelimit.Counter{Key: ratelimit.NewKey(phase, strconv.Itoa(i)), Limit: ratelimit.Limit{Count: loadLimit, Window: time.Hour}}
					result, err := l.nodes[n%2].Check(context.Background(), now, req)
					if err != nil {
						l.p.Violation("%s: %v", phase, err)
					}
					if result.Allowed {
						counts[i].Add(1)
					}
					l.p.Tried(1)
				}
			})
		}
	}
	wg.Wait()
	for i := range counts {
		allowed = append(allowed, counts[i].Load())
	}
	return allowed
}

// countsTogether waits until both nodes together allow each key as often as its limit says.
func (l *load) countsTogether(phase string) {
	for deadline, try := time.Now().Add(time.Minute), 0; ; try++ {
		if !slices.ContainsFunc(l.use(fmt.Sprint(phase, try)), func(n int64) bool { return n != loadLimit }) {
			return
		}
		if time.Now().After(deadline) {
			l.p.Violation("%s: the nodes do not count together", phase)
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// goesOn checks while a server is away: each node counts for itself at most.
func (l *load) goesOn(phase string) {
	for _, n := range l.use(phase) {
		if n < loadLimit {
			l.p.Violation("%s: %d allowed, want at least %d", phase, n, loadLimit)
		}
	}
}

// A client whose reads may come from a replica is refused.
func TestClusterOptions_LIM07(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]redis.ClusterOptions{
		"ReadOnly":              {ContextTimeoutEnabled: true, ReadOnly: true},
		"RouteRandomly":         {ContextTimeoutEnabled: true, RouteRandomly: true},
		"ContextTimeoutEnabled": {},
	} {
		opts.Addrs = []string{"127.0.0.1:1"}
		client := redis.NewClusterClient(&opts)
		if _, err := redislimit.New(redislimit.Config{Client: client}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
}
