package idempotency

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
)

const (
	defaultLease       = 30 * time.Second
	minLease           = time.Second
	defaultMaxBody     = 4 << 20 // bytes
	defaultMaxResponse = 1 << 20 // bytes
)

// Config configures [Keys]. Store is required; the zero
// value of everything else is its default.
type Config struct {
	Store keystore.Store

	// Clock is the clock for the lifetime of keys; nil means real time.
	Clock clock.Clock

	// Lifetime is how long a key repeats its response; 0 means [keystore.Lifetime], at least one
	// minute and at most 30 days.
	Lifetime time.Duration

	// Lease is how long a key stays taken after its node has died; 0 means 30 s,
	// and less than 1 s is refused. It is renewed while a handler runs, in real
	// time. The clocks of the nodes must agree to well within it. On SQLite the next
	// start of the process frees the keys of the one before.
	Lease time.Duration

	// MaxBody is the largest body of a request with a key, in bytes, since all of
	// it is in the fingerprint; more is a 413. 0 means 4 MiB.
	MaxBody int64

	// MaxResponse is the largest body of a response that is kept, in bytes; 0 means
	// 1 MiB. A larger response reaches its client, and a repetition of the request
	// gets 409 IDEMPOTENCY_ANSWER_NOT_KEPT.
	MaxResponse int

	// VersionHeader names the header with the API version of a response: a
	// repetition carries the version that the first request was served in, since
	// its body is that one's. Empty means that there is none.
	VersionHeader string

	// KeepHeaders names more headers of the response that a repetition carries too.
	// Content-Type, Content-Encoding, Content-Language, Content-Disposition,
	// Content-Location, X-Content-Type-Options, Location, Link, ETag and
	// Last-Modified always are among them. They are kept as they are when the
	// response begins.
	KeepHeaders []string

	// Logger receives internal errors that no client sees; nil discards them.
	Logger *slog.Logger

	// MeterProvider gets the counters partnerkit.idempotency.replays, .conflicts
	// and .mismatches; nil means none.
	MeterProvider metric.MeterProvider
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Store == nil:
		return c, errors.New("no Store")
	case c.Lease != 0 && c.Lease < minLease:
		return c, fmt.Errorf("a Lease of %v, less than %v", c.Lease, minLease)
	case c.Lifetime != 0 && (c.Lifetime < time.Minute || c.Lifetime > 30*24*time.Hour):
		return c, fmt.Errorf("a Lifetime of %v; it must be between one minute and 30 days", c.Lifetime)
	case c.MaxBody < 0 || c.MaxResponse < 0:
		return c, errors.New("a negative MaxBody or MaxResponse")
	}
	c.Clock = clock.From(c.Clock)
	if c.Lifetime == 0 {
		c.Lifetime = keystore.Lifetime
	}
	if c.Lease == 0 {
		c.Lease = defaultLease
	}
	if c.MaxBody == 0 {
		c.MaxBody = defaultMaxBody
	}
	if c.MaxResponse == 0 {
		c.MaxResponse = defaultMaxResponse
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.MeterProvider == nil {
		c.MeterProvider = noop.NewMeterProvider()
	}
	keep := slices.Clone(keptHeaders)
	for _, name := range c.KeepHeaders {
		keep = append(keep, http.CanonicalHeaderKey(name))
	}
	c.KeepHeaders = keep
	return c, nil
}

// keyMetrics count what repetitions got.
type keyMetrics struct{ replays, conflicts, mismatches metric.Int64Counter }

func newKeyMetrics(provider metric.MeterProvider) (keyMetrics, error) {
	meter := provider.Meter("github.com/partnerkit/partnerkit/idempotency")
	var m keyMetrics
	for _, counter := range []struct {
		dest              *metric.Int64Counter
		name, description string
	}{
		{&m.replays, "partnerkit.idempotency.replays", "Writes that got the answer of an earlier request with their Idempotency-Key."},
		{&m.conflicts, "partnerkit.idempotency.conflicts", "Writes refused while another one with their Idempotency-Key was running."},
		{&m.mismatches, "partnerkit.idempotency.mismatches", "Writes refused because their Idempotency-Key was used for something else."},
	} {
		made, err := meter.Int64Counter(counter.name, metric.WithDescription(counter.description), metric.WithUnit("{request}"))
		if err != nil {
			return keyMetrics{}, err
		}
		*counter.dest = made
	}
	return m, nil
}
