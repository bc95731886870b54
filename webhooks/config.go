package webhooks

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// AttemptTimeout is the time of one attempt, from DNS to the last header.
const AttemptTimeout = 10 * time.Second

const (
	defaultRetention   = 30 * 24 * time.Hour
	defaultOverlap     = 24 * time.Hour
	defaultMaxWebhooks = 20
	defaultMaxInFlight = 256
	defaultPerEndpoint = 16
	defaultLease       = 15 * time.Second
	maxOverlap         = 30 * 24 * time.Hour
)

// Config of a [Service]. Store and Keyring are required; the zero value of
// everything else is its default.
type Config struct {
	Store   webhookstore.Store
	Keyring *keyring.Keyring
	// Catalog of events; the zero value means events.DefaultCatalog.
	Catalog events.Catalog
	// CurrentVersion of the API is that of bodies for apps which have pinned
	// none; empty when the API has no versions.
	CurrentVersion string

	// Retention is how long deliveries are kept and can be sent again; 0 means 30 days.
	Retention time.Duration

	// Dial opens the connections to endpoints, for networks that can be left through
	// an egress proxy only. It is called with network "tcp" and an address as IP:port.
	// Names are resolved on this machine, and addresses that are not public are
	// refused before Dial is called. The connection must lead to that address, which
	// only the proxy can ensure. TLS is spoken over it with the endpoint. Nil means
	// direct connections, which are checked at the socket.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Notifications receives notifications for the host's staff; nil means none are sent.
	// When a webhook begins to fail one node sends webhook.failing, and when it is no longer
	// failing one node sends webhook.recovered; see [partner.WebhookHealth].
	Notifications *events.Notifications

	Clock         clock.Clock          // nil: the real time
	Logger        *slog.Logger         // nil: discards
	MeterProvider metric.MeterProvider // nil: no metrics

	Options
}

// Options are the settings that only webhooks have. The zero value of each is its default.
type Options struct {
	// AllowLoopback lets webhooks point to this machine, over http too. For
	// development only.
	AllowLoopback bool
	// TLS is the base of every handshake, for root certificates of one's own;
	// nil means the system's roots.
	TLS *tls.Config
	// MaxWebhooks is how many an app may have; 0 means 20.
	MaxWebhooks int
	// MaxInFlight is the number of slots for attempts; 0 means 256. An attempt that
	// takes more than half a second gives up its slot and continues; there are at most
	// four of these for each slot. At most half of the slots go to endpoints without a
	// recent success.
	MaxInFlight int
	// PerEndpoint is how many attempts one endpoint may have at a time; 0 means 16. An
	// endpoint without a recent success gets one at a time.
	PerEndpoint int
	// Lease is how long the deliveries of a dispatcher that died wait before another
	// one takes them over, on a database that several processes share; 0 means 15
	// seconds.
	Lease time.Duration

	// RetryDelays are the pauses after the first failed attempt, the second and so on;
	// after one more failure than there are delays the delivery has failed. Nil means 1
	// minute, 5 minutes, 30 minutes, 2 hours and 6 hours. There are at most 20 delays, each
	// at least one second, and together they are shorter than Retention.
	RetryDelays []time.Duration
	// SecretOverlap is how long the secret before a rotation signs too; 0 means 24 hours,
	// at most 30 days.
	SecretOverlap time.Duration
	// StandardHeaders adds the headers of Standard Webhooks to each attempt, beside ours. The key
	// is what the base64 in the webhook's secret encodes, as their libraries expect, but for a
	// NewWebhook.Secret of the host's without StandardSecret: there it is the whole text.
	StandardHeaders bool
	// DisableAfter switches off a webhook when an attempt fails so long after the first failed
	// one, no attempt has succeeded since, and at least two deliveries have used up their attempts. The audit
	// log and the Notifications report it; switching the webhook on again starts over. 0
	// means never, and less than one hour is rejected.
	DisableAfter time.Duration
	// HeedReceivers gives two responses of endpoints a meaning of their own. 410 fails a delivery
	// for good and switches the webhook off. Retry-After beside 429 or 503 puts the next
	// attempt off, at most to twice the delay that it has without.
	HeedReceivers bool
	// VerifyEndpoints holds the deliveries of a new webhook, and of one whose URL changed, until its
	// endpoint has answered a challenge; see [Service.Challenge]. What waits for longer than
	// one day fails. Webhooks from before the option was set count as verified.
	VerifyEndpoints bool
	// Fault is asked before each attempt of a delivery what goes wrong with it, so that partners
	// can try what they do then. For development only; nil means nothing.
	Fault func() Fault
	// PurgeAfter is the age at which deliveries are deleted: 0 means Retention, and less
	// is refused. More leaves time to a host that drops whole partitions instead.
	PurgeAfter time.Duration
}

// Retention returns how long deliveries are kept.
func (s *Service) Retention() time.Duration { return s.cfg.Retention }

// Options returns the options in force, in which the defaults are filled in.
func (s *Service) Options() Options {
	o := s.cfg.Options
	o.RetryDelays = slices.Clone(o.RetryDelays)
	return o
}

func (c Config) withDefaults() Config {
	if len(c.Catalog.All()) == 0 {
		c.Catalog = events.DefaultCatalog()
	}
	c.MaxWebhooks = cmp.Or(c.MaxWebhooks, defaultMaxWebhooks)
	c.MaxInFlight = cmp.Or(c.MaxInFlight, defaultMaxInFlight)
	c.PerEndpoint = cmp.Or(c.PerEndpoint, defaultPerEndpoint)
	c.Lease = cmp.Or(c.Lease, defaultLease)
	c.SecretOverlap, c.Retention = cmp.Or(c.SecretOverlap, defaultOverlap), cmp.Or(c.Retention, defaultRetention)
	c.PurgeAfter = cmp.Or(c.PurgeAfter, c.Retention)
	if c.RetryDelays == nil {
		c.RetryDelays = defaultRetryDelays()
	}
	c.Clock = clock.From(c.Clock)
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
	case c.PurgeAfter != 0 && c.PurgeAfter < cmp.Or(c.Retention, defaultRetention):
		return errors.New("webhooks: Config.PurgeAfter is less than Config.Retention, for which deliveries are kept")
	case c.SecretOverlap < 0 || c.SecretOverlap > maxOverlap:
		return fmt.Errorf("webhooks: Config.SecretOverlap is %v; it must be at most %v, or a leaked secret would stay valid", c.SecretOverlap, maxOverlap)
	case c.DisableAfter != 0 && c.DisableAfter < time.Hour:
		return errors.New("webhooks: Config.DisableAfter is less than an hour")
	case c.Retention < 0:
		return errors.New("webhooks: Config.Retention is negative")
	}
	return checkRetryDelays(c.RetryDelays, cmp.Or(c.Retention, defaultRetention))
}

// Service is the webhooks of all apps. It is safe for concurrent use.
type Service struct {
	cfg    Config
	store  deadlineStore // for the background loops
	policy outbound.Policy
	http   *outbound.Client

	signers     *signers
	outstanding outstanding
	woken       chan struct{} // has a value after Wake
	telemetry   *telemetry
}

// New checks the configuration and returns a service. It starts nothing:
// [Service.Run] plans and sends.
func New(cfg Config) (*Service, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Service{cfg: cfg, store: deadlineStore{cfg.Store, cfg.Lease / 2}, policy: outbound.Policy{AllowLoopback: cfg.AllowLoopback}, woken: make(chan struct{}, 1)}
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
