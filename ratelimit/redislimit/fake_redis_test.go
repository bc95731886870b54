package redislimit_test

import (
	"context"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/redis/go-redis/v9"

	"github.com/partnerkit/partnerkit/ratelimit/redislimit"
)

// held returns a limiter and what stands in for its Redis, whose calls are
// under way until the test lets them go. It is for bubbles.
func held(t *testing.T, config redislimit.Config) (*redislimit.Limiter, *fakeRedis) {
	t.Helper()
	d := &fakeRedis{calls: make(chan call), counts: map[string]int64{}}
	client := newClient(t, &redis.Options{
		Addr:   "127.0.0.1:1",
		Dialer: func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed },
	})
	client.AddHook(d)
	config.Client = client
	config.OnFailure = redislimit.FailClosed
	return open(t, config), d
}

// fakeRedis stands in for a Redis that knows counters only, and fails at failures.
// Each check waits there until the test decides its outcome.
type fakeRedis struct {
	calls chan call
	sent  atomic.Int64
	most  atomic.Int64 // keys in one call

	mu     sync.Mutex
	counts map[string]int64
}

// call is what becomes of a call.
type call func(d *fakeRedis, cmd *redis.IntSliceCmd) error

func response(d *fakeRedis, cmd *redis.IntSliceCmd) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	args := cmd.Args()
	keys := args[2].(int)
	counters := len(args) - 3 - keys
	reply := make([]int64, keys)
	for i := range counters {
		key := args[3+i].(string)
		d.counts[key]++
		reply[i] = d.counts[key]
	}
	cmd.SetVal(reply)
	return nil
}

func responseShort(_ *fakeRedis, cmd *redis.IntSliceCmd) error {
	cmd.SetVal(make([]int64, cmd.Args()[2].(int)-1))
	return nil
}

func refuse(*fakeRedis, *redis.IntSliceCmd) error { return net.ErrClosed }

func tearDown(*fakeRedis, *redis.IntSliceCmd) error {
	runtime.Goexit()
	return nil
}

func fallOver(*fakeRedis, *redis.IntSliceCmd) error { panic("a hook fell over") }

// letGo waits for a call to come.
func (d *fakeRedis) letGo(c call) { d.calls <- c }

// letAllGo ends when no call is left and none follows.
func (d *fakeRedis) letAllGo(t *testing.T, c call) {
	t.Helper()
	for {
		synctest.Wait()
		select {
		case d.calls <- c:
		default:
			return
		}
	}
}

func (d *fakeRedis) DialHook(next redis.DialHook) redis.DialHook { return next }
func (d *fakeRedis) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (d *fakeRedis) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		check, ok := cmd.(*redis.IntSliceCmd)
		if !ok {
			cmd.SetErr(net.ErrClosed)
			return net.ErrClosed
		}
		d.sent.Add(1)
		keys := int64(cmd.Args()[2].(int))
		for most := d.most.Load(); keys > most && !d.most.CompareAndSwap(most, keys); most = d.most.Load() {
		}
		var err error
		select {
		case c := <-d.calls:
			err = c(d, check)
		case <-ctx.Done():
			err = ctx.Err()
		}
		cmd.SetErr(err)
		return err
	}
}
