package redislimit_test

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/ratelimit/redislimit"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// dial returns a client of the Redis that the environment names. It does not
// connect yet.
func dial(t testing.TB) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(testenv.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	return newClient(t, opts)
}

func newClient(t testing.TB, opts *redis.Options) *redis.Client {
	t.Helper()
	opts.ContextTimeoutEnabled = true
	opts.MaxRetries = -1
	client := redis.NewClient(opts)
	t.Cleanup(func() { client.Close() })
	return client
}

// newPrefix returns a prefix of the test's own and removes its keys afterwards.
func newPrefix(t testing.TB, client *redis.Client) string {
	t.Helper()
	prefix := "partnerkit:test:" + rand.Text() + ":"
	t.Cleanup(func() {
		ctx := context.Background()
		keys, err := client.Keys(ctx, prefix+"*").Result()
		if err != nil {
			t.Error(err)
		}
		if len(keys) > 0 {
			if err := client.Del(ctx, keys...).Err(); err != nil {
				t.Error(err)
			}
		}
	})
	return prefix
}

// newLimiter returns a limiter without counts that fails rather than guesses.
func newLimiter(t testing.TB, client *redis.Client) *redislimit.Limiter {
	t.Helper()
	return open(t, redislimit.Config{
		Client:    client,
		Prefix:    newPrefix(t, client),
		Timeout:   30 * time.Second, // a slow machine is not a failure
		OnFailure: redislimit.FailClosed,
	})
}

func open(t testing.TB, config redislimit.Config) *redislimit.Limiter {
	t.Helper()
	limiter, err := redislimit.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}
