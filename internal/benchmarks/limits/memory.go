// Package limits compares the limiters with others.
package limits

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/sethvargo/go-limiter/memorystore"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
	"golang.org/x/time/rate"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/ratelimit"
)

const (
	keys       = 100_000
	perApp     = 100 // keys of one app: the second counter of each request
	goroutines = 16
	// generous is a limit that no run reaches: each response is yes, and is checked.
	generous = 1_000_000_000
)

var errRefused = errors.New("refused, within the limit")

// single takes one from a key.
type single func(ctx context.Context, key string) error

// peer is another limiter in memory.
type peer struct {
	name      string
	isBounded bool // by a number of keys
	make      func() (single, func(), error)
}

var peers = []peer{
	{"sethvargo/go-limiter", false, newSethvargo},
	{"ulule/limiter", false, newUlule},
	{"throttled", true, newThrottled},
	{"x/time/rate in a map", false, newRate},
}

func newSethvargo() (single, func(), error) {
	store, err := memorystore.New(&memorystore.Config{Tokens: generous, Interval: time.Minute})
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, key string) error {
		_, _, _, ok, err := store.Take(ctx, key)
		return wanted(ok, err)
	}, func() { _ = store.Close(context.Background()) }, nil
}

func newUlule() (single, func(), error) {
	l := limiter.New(memory.NewStore(), limiter.Rate{Period: time.Minute, Limit: generous})
	return func(ctx context.Context, key string) error {
		got, err := l.Get(ctx, key)
		return wanted(!got.Reached, err)
	}, func() {}, nil
}

func newThrottled() (single, func(), error) {
	store, err := memstore.NewCtx(2 * keys)
	if err != nil {
		return nil, nil, err
	}
	l, err := throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{MaxRate: throttled.PerMin(generous), MaxBurst: generous})
	if err != nil {
		return nil, nil, err
	}
	l.SetMaxCASAttemptsLimit(1000)
	return func(ctx context.Context, key string) error {
		limited, _, err := l.RateLimitCtx(ctx, key, 1)
		return wanted(!limited, err)
	}, func() {}, nil
}

// newRate returns the usual wrapper around x/time/rate, which has no keys: a map that only
// grows.
func newRate() (single, func(), error) {
	var mu sync.Mutex
	all := map[string]*rate.Limiter{}
	return func(_ context.Context, key string) error {
		mu.Lock()
		one, ok := all[key]
		if !ok {
			one = rate.NewLimiter(generous, generous)
			all[key] = one
		}
		mu.Unlock()
		return wanted(one.Allow(), nil)
	}, func() {}, nil
}

func wanted(ok bool, err error) error {
	if err == nil && !ok {
		return errRefused
	}
	return err
}

// names of the two counters of each request.
func names() (first, second []string) {
	for i := range keys {
		first = append(first, "business:"+strconv.Itoa(i))
		second = append(second, "app:"+strconv.Itoa(i/perApp))
	}
	return first, second
}

// walk calls do with numbers of keys, from several goroutines.
func walk(n int, do func(i int) error) error {
	return bench.Parallel(goroutines, n, func(g, n int) error {
		i := g * 7919
		for range n {
			i += 101
			if err := do(i % keys); err != nil {
				return err
			}
		}
		return nil
	})
}

// pairs are the keys of the two counters of each request. They are made beforehand,
// as the names that the others are given; a request is built around them in the call,
// as a caller does.
type pairs struct{ first, second []ratelimit.Key }

func ourPairs() (p pairs) {
	first, second := names()
	for i := range keys {
		p.first = append(p.first, ratelimit.NewKey("business", first[i]))
		p.second = append(p.second, ratelimit.NewKey("app", second[i]))
	}
	return p
}

func (p pairs) check(ctx context.Context, l ratelimit.Limiter, now time.Time, i int) error {
	got, err := l.Check(ctx, now, ratelimit.Request{Counters: ratelimit.Counters{
		{Key: p.first[i], Limit: ratelimit.PerMinute(generous)},
		{Key: p.second[i], Limit: ratelimit.PerMinute(generous)},
	}})
	return wanted(got.Allowed, err)
}

// memorySides are ours and all others, each with two counters.
func memorySides() (sides []bench.Side, stop func(), err error) {
	l, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	if err != nil {
		return nil, nil, err
	}
	const each = 400_000
	our := ourPairs()
	sides = append(sides, bench.Side{Name: "ours", Each: each, Do: func(n int) error {
		ctx, now := context.Background(), time.Now()
		return walk(n, func(i int) error { return our.check(ctx, l, now, i) })
	}})
	first, second := names()
	var stops []func()
	for _, p := range peers {
		take, stop, err := p.make()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p.name, err)
		}
		stops = append(stops, stop)
		sides = append(sides, bench.Side{Name: p.name, Each: each, Do: func(n int) error {
			ctx := context.Background()
			return walk(n, func(i int) error {
				if err := take(ctx, first[i]); err != nil {
					return err
				}
				return take(ctx, second[i])
			})
		}})
	}
	return sides, func() {
		for _, stop := range stops {
			stop()
		}
	}, nil
}
