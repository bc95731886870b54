package limits

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/goredisstore.v9"
	"github.com/ulule/limiter/v3"
	redisstore "github.com/ulule/limiter/v3/drivers/store/redis"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/ratelimit/redislimit"
)

// redisGoroutines is how many ask at a time. There is a connection for each; ours share four.
const redisGoroutines = 64

// redisSides returns the floor, ours with two counters and the others with one.
func redisSides(url string) (sides []bench.Side, stop func(), err error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, nil, err
	}
	options.ContextTimeoutEnabled, options.MaxRetries, options.PoolSize = true, -1, redisGoroutines
	client := redis.NewClient(options)
	prefix := fmt.Sprintf("partnerkit:bench:%d:", time.Now().UnixNano())
	our, err := redislimit.New(redislimit.Config{Client: client, Prefix: prefix + "ours:", OnFailure: redislimit.FailClosed, Timeout: 10 * time.Second})
	if err != nil {
		return nil, nil, err
	}
	ululeStore, err := redisstore.NewStoreWithOptions(client, limiter.StoreOptions{Prefix: prefix + "ulule"})
	if err != nil {
		return nil, nil, err
	}
	ulule := limiter.New(ululeStore, limiter.Rate{Period: time.Minute, Limit: generous})
	throttledStore, err := goredisstore.NewCtx(client, prefix+"throttled:")
	if err != nil {
		return nil, nil, err
	}
	gcra, err := throttled.NewGCRARateLimiterCtx(throttledStore, throttled.RateQuota{MaxRate: throttled.PerMin(1_000_000), MaxBurst: 1_000_000})
	if err != nil {
		return nil, nil, err
	}
	gcra.SetMaxCASAttemptsLimit(1000)
	leaky := redis_rate.NewLimiter(client)
	pairs := ourPairs()
	const each = 10_000
	spread := func(name string, do func(ctx context.Context, i int) error) bench.Side {
		return bench.Side{Name: name, Each: each, Do: func(n int) error {
			return bench.Parallel(redisGoroutines, n, func(g, n int) error {
				ctx := context.Background()
				for i := range n {
					if err := do(ctx, (g*7919+i*101)%keys); err != nil {
						return err
					}
				}
				return nil
			})
		}}
	}
	sides = []bench.Side{
		spread("INCR", func(ctx context.Context, i int) error { return client.Incr(ctx, prefix+"incr:"+strconv.Itoa(i)).Err() }),
		spread("ours", func(ctx context.Context, i int) error {
			return pairs.check(ctx, our, time.Now(), i)
		}),
		spread("ulule/limiter", func(ctx context.Context, i int) error {
			got, err := ulule.Get(ctx, strconv.Itoa(i))
			return wanted(!got.Reached, err)
		}),
		spread("redis_rate", func(ctx context.Context, i int) error {
			got, err := leaky.Allow(ctx, prefix+"leaky:"+strconv.Itoa(i), redis_rate.PerMinute(1_000_000))
			return wanted(err == nil && got.Allowed == 1, err)
		}),
		spread("throttled", func(ctx context.Context, i int) error {
			limited, _, err := gcra.RateLimitCtx(ctx, strconv.Itoa(i), 1)
			return wanted(!limited, err)
		}),
	}
	return sides, func() {
		clean(client, prefix)
		_ = client.Close()
	}, nil
}

// clean removes our keys and those of the others, which have the prefix somewhere.
func clean(client *redis.Client, prefix string) {
	ctx := context.Background()
	for _, pattern := range []string{prefix + "*", "*" + prefix + "*"} {
		found := client.Scan(ctx, 0, pattern, 10_000).Iterator()
		var some []string
		for found.Next(ctx) {
			if some = append(some, found.Val()); len(some) == 1000 {
				client.Del(ctx, some...)
				some = nil
			}
		}
		if len(some) > 0 {
			client.Del(ctx, some...)
		}
	}
}
