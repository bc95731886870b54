package webhooks

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/keyring"
)

// What a delivery is given.
const (
	// AttemptTimeout is the time of one attempt, from DNS to the last header.
	AttemptTimeout = 10 * time.Second
	// MaxAttempts is how often a delivery is tried.
	MaxAttempts = 6
	// SecretOverlap is how long the secret before a rotation signs too.
	SecretOverlap = 24 * time.Hour
	// Retention is how long a delivery is kept.
	Retention = 30 * 24 * time.Hour
	// WarnEvery is how often Config.Failing hears of one webhook at most.
	WarnEvery = 24 * time.Hour
)

const (
	defaultMaxWebhooks = 20
	defaultMaxInFlight = 256
	defaultPerEndpoint = 16
	defaultLease       = 15 * time.Second
)

// Config of a [Service]. Store and Keyring are required; the zero value of
// everything else is its default.
type Config struct {
	Store   Store
	Keyring *keyring.Keyring
	// Catalog of events; the zero value means events.DefaultCatalog.
	Catalog events.Catalog
	// CurrentVersion of the API is that of bodies for apps which have pinned
	// none; empty when the API has no versions.
	CurrentVersion string

	// AllowLoopback lets webhooks point to this machine, over http too. For
	// development only.
	AllowLoopback bool
	// TLS is the base of every handshake, for root certificates of one's own;
	// nil means the system's roots.
	TLS *tls.Config
	// Dial opens the connections to endpoints, for networks that can be left through
	// an egress proxy only. It is called with network "tcp" and an address as IP:port.
	// Names are resolved on this machine, and addresses that are not public are
	// refused before Dial is called. The connection must lead to that address, which
	// only the proxy can ensure. TLS is spoken over it with the endpoint. Nil means
	// direct connections, which are checked at the socket.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// MaxWebhooks is how many an app may have; 0 means 20.
	MaxWebhooks int
	// MaxInFlight is how many attempts run at a time; 0 means 256. Half of them
	// at most go to endpoints that have not answered well lately.
	MaxInFlight int
	// PerEndpoint is how many of them one endpoint may have; 0 means 16. One
	// that has not answered well lately gets one at a time.
	PerEndpoint int
	// Lease is how long the work of a dispatcher that died lies still before
	// another one takes it over, on a database that several processes share; 0
	// means 15 seconds.
	Lease time.Duration

	// PurgeAfter is when deliveries are deleted: 0 means after [Retention], and less
	// is refused. More leaves time to a host that drops whole partitions instead.
	PurgeAfter time.Duration

	// Failing is told of a webhook that keeps failing, so that somebody can tell
	// its developer: when a delivery has used up its attempts, and not again for
	// [WarnEvery]. It is called from Run, once in all nodes, and must not block.
	Failing func(ctx context.Context, webhookID string)

	Clock         clock.Movable        // nil: the real time
	Logger        *slog.Logger         // nil: discards
	MeterProvider metric.MeterProvider // nil: no metrics
}

func (c Config) withDefaults() Config {
	if len(c.Catalog.All()) == 0 {
		c.Catalog = events.DefaultCatalog()
	}
	c.MaxWebhooks = cmp.Or(c.MaxWebhooks, defaultMaxWebhooks)
	c.MaxInFlight = cmp.Or(c.MaxInFlight, defaultMaxInFlight)
	c.PerEndpoint = cmp.Or(c.PerEndpoint, defaultPerEndpoint)
	c.Lease = cmp.Or(c.Lease, defaultLease)
	c.PurgeAfter = cmp.Or(c.PurgeAfter, Retention)
	if c.Clock == nil {
		c.Clock = clock.System{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Failing == nil {
		c.Failing = func(context.Context, string) {}
	}
	if c.MeterProvider == nil {
		c.MeterProvider = noop.NewMeterProvider()
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Store == nil:
		return errors.New("webhooks: Config.Store is nil")
	case c.Keyring == nil:
		return errors.New("webhooks: Config.Keyring is nil")
	case c.MaxInFlight < 0 || c.MaxInFlight == 1:
		return errors.New("webhooks: Config.MaxInFlight is less than 2")
	case c.PerEndpoint < 0 || c.MaxWebhooks < 0:
		return errors.New("webhooks: Config.PerEndpoint or Config.MaxWebhooks is negative")
	case c.Lease != 0 && c.Lease < time.Second:
		return errors.New("webhooks: Config.Lease is less than a second")
	case c.PurgeAfter != 0 && c.PurgeAfter < Retention:
		return errors.New("webhooks: Config.PurgeAfter is less than Retention, for which deliveries are kept")
	}
	return nil
}

// Service is the webhooks of all apps. It is safe for concurrent use.
type Service struct {
	cfg    Config
	store  deadlineStore // for the background loops
	policy outbound.Policy
	http   *outbound.Client

	signers     *signers
	outstanding outstanding
	telemetry   *telemetry
}

// New checks the configuration and returns a service. It starts nothing:
// [Service.Run] plans and sends.
func New(cfg Config) (*Service, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Service{cfg: cfg, store: deadlineStore{cfg.Store, cfg.Lease / 2}, policy: outbound.Policy{AllowLoopback: cfg.AllowLoopback}}
	s.signers = &signers{open: s.signingSecrets, byID: map[string]signing{}}
	var err error
	if s.telemetry, err = newTelemetry(cfg.MeterProvider, cfg.Clock); err != nil {
		return nil, err
	}
	s.http, err = outbound.New(outbound.Config{
		Policy: s.policy, Timeout: AttemptTimeout, TLS: cfg.TLS, Dial: cfg.Dial,
		MaxIdle: 4 * cfg.MaxInFlight, MaxIdlePerHost: cfg.PerEndpoint,
	})
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return s, nil
}
