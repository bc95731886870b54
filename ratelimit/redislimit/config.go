package redislimit

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/partnerkit/partnerkit/ratelimit"
)

const (
	defaultPrefix  = "partnerkit:limit:"
	defaultTimeout = 100 * time.Millisecond
	maxPrefix      = 128 // bytes
)

// OnFailure is what happens when Redis does not respond.
type OnFailure string

// The choices. The zero value means FailOpen.
const (
	FailOpen   OnFailure = "open"   // continue with a limiter in memory
	FailClosed OnFailure = "closed" // return an error
)

// Config configures a Limiter. Only Client is required.
type Config struct {
	// Client is the host's; the limiter never closes it: of one server, of Sentinel
	// (redis.NewFailoverClient) or of a cluster. Its options must set
	// ContextTimeoutEnabled, or Timeout could not be kept. MaxRetries -1 is
	// best, and MaxRedirects 1 for a cluster: a command that is sent again after a lost
	// response counts twice. A client of a cluster must not read from replicas.
	Client redis.UniversalClient

	// Prefix begins every key in Redis, at most 128 bytes. Empty means
	// "partnerkit:limit:". Limiters with the same prefix share their counts.
	Prefix string

	// Timeout is how long a Check or a Fail waits for Redis at most, for its
	// turn and for the response together, if the hooks of Client heed their
	// context. Zero means 100 ms.
	Timeout time.Duration

	// OnFailure selects the behaviour while Redis does not respond. Empty means FailOpen.
	OnFailure OnFailure

	// Local configures the limiter that stands in with FailOpen.
	Local ratelimit.MemoryConfig

	// Logger gets a warning when Redis does not respond, at most one in ten
	// seconds. Nil discards.
	Logger *slog.Logger

	// MeterProvider gets the counter partnerkit.ratelimit.redis.unavailable:
	// calls to which Redis did not respond. Nil means none.
	MeterProvider metric.MeterProvider
}

func (c Config) withDefaults() Config {
	if c.Prefix == "" {
		c.Prefix = defaultPrefix
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.OnFailure == "" {
		c.OnFailure = FailOpen
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.MeterProvider == nil {
		c.MeterProvider = noop.NewMeterProvider()
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Client == nil:
		return errors.New("no Client")
	case !heedsContext(c.Client):
		return errors.New("the options of Client do not set ContextTimeoutEnabled")
	case readsReplicas(c.Client):
		return errors.New("the options of Client set ReadOnly, RouteByLatency or RouteRandomly, and a replica does not know the last counts")
	case len(c.Prefix) > maxPrefix:
		return fmt.Errorf("a Prefix of %d bytes, more than %d", len(c.Prefix), maxPrefix)
	case c.Timeout < 0:
		return fmt.Errorf("a negative Timeout, %v", c.Timeout)
	case c.OnFailure != FailOpen && c.OnFailure != FailClosed:
		return fmt.Errorf("an unknown OnFailure, %q", c.OnFailure)
	}
	return nil
}

// heedsContext reports whether a client heeds the deadlines of contexts, as far as it can be
// seen.
func heedsContext(client redis.UniversalClient) bool {
	switch c := client.(type) {
	case *redis.Client:
		return c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		return c.Options().ContextTimeoutEnabled
	case *redis.Ring:
		return c.Options().ContextTimeoutEnabled
	}
	return true
}

func readsReplicas(client redis.UniversalClient) bool {
	cluster, ok := client.(*redis.ClusterClient)
	return ok && (cluster.Options().ReadOnly || cluster.Options().RouteByLatency || cluster.Options().RouteRandomly)
}
