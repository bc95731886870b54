// Package servers lets a sandbox keep its data in PostgreSQL and its limits in Redis, as a
// program on several machines does. A sandbox for laptops needs neither, and is smaller
// without the two clients.
package servers

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/ratelimit/redislimit"
	"github.com/partnerkit/partnerkit/sandbox"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// flags name the servers.
type flags struct {
	direct     string
	partitions bool
	redis      string
}

// Add gives a program the flags -db-direct, -partitions and -redis, and takes postgres:// URLs
// in -db. It keeps the Flags and the Check that the program has, and replaces OpenStore and
// OpenLimiter.
func Add(p *sandbox.Program) {
	var f flags
	addFlags, check := p.Flags, p.Check
	p.Flags = func(set *flag.FlagSet) {
		if addFlags != nil {
			addFlags(set)
		}
		f.addTo(set)
	}
	p.Check = func(s sandbox.Settings) error {
		if err := f.check(s.Database); err != nil || check == nil {
			return err
		}
		return check(s)
	}
	p.OpenStore, p.OpenLimiter = f.openStore, f.openLimiter
}

func (f *flags) addTo(set *flag.FlagSet) {
	set.StringVar(&f.direct, "db-direct", "", "postgres:// `URL` of the same database that goes past a pooler, for notifications and migrations")
	set.BoolVar(&f.partitions, "partitions", false, "PostgreSQL: webhook deliveries in a table for each day, of which old ones are dropped")
	set.StringVar(&f.redis, "redis", "", "redis:// `URL`, also of a cluster or of Sentinel: limits and lockouts are shared between nodes")
}

// check reports flags that do not fit. Its errors do not repeat URLs, which may have passwords.
func (f *flags) check(db string) error {
	isPostgres := strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://")
	switch {
	case strings.Contains(db, "://") && !isPostgres && !strings.HasPrefix(db, "file://"):
		return errors.New("-db is neither an SQLite file nor a postgres:// URL")
	case f.direct != "" && !isPostgres:
		return errors.New("-db-direct goes past a pooler: -db must be a postgres:// URL")
	case f.partitions && !isPostgres:
		return errors.New("-partitions is for PostgreSQL: -db must be a postgres:// URL")
	case f.redis == "":
		return nil
	}
	client, err := newRedis(f.redis)
	if err != nil {
		return errors.New("-redis is not of the form redis://user:password@host:port/number, with addr= for the other nodes of a cluster, or with master_name= and addr= for Sentinel")
	}
	return client.Close() // it has not connected
}

func (f *flags) openStore(ctx context.Context, url string, log *slog.Logger) (*sqlstore.Store, error) {
	return postgres.Open(ctx, url, postgres.Config{DirectURL: f.direct, Partitions: f.partitions, Logger: log})
}

// openLimiter returns a nil limiter without -redis.
func (f *flags) openLimiter(ctx context.Context, log *slog.Logger, meters metric.MeterProvider) (ratelimit.Limiter, io.Closer, error) {
	if f.redis == "" {
		return nil, nil, nil
	}
	client, err := newRedis(f.redis)
	if err != nil {
		return nil, nil, err
	}
	if err := client.Ping(ctx).Err(); err != nil {
		log.Warn("redis does not respond, limits are counted in memory until it does", "err", err)
	}
	limiter, err := redislimit.New(redislimit.Config{Client: client, Logger: log, MeterProvider: meters})
	return limiter, client, err
}

// newRedis returns a client of one server, of Sentinel if the URL has a master_name, or of a
// cluster if it has an addr. A slow Redis delays no request, and no command is sent twice,
// because it would count twice.
func newRedis(address string) (redis.UniversalClient, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	switch options := parsed.Query(); {
	case options.Has("master_name"):
		opts, err := redis.ParseFailoverURL(address)
		if err != nil {
			return nil, err
		}
		opts.ContextTimeoutEnabled, opts.MaxRetries = true, -1
		return redis.NewFailoverClient(opts), nil
	case options.Has("addr"):
		opts, err := redis.ParseClusterURL(address)
		if err != nil {
			return nil, err
		}
		opts.ContextTimeoutEnabled, opts.MaxRetries, opts.MaxRedirects = true, -1, 1
		return redis.NewClusterClient(opts), nil
	}
	opts, err := redis.ParseURL(address)
	if err != nil {
		return nil, err
	}
	opts.ContextTimeoutEnabled, opts.MaxRetries = true, -1
	return redis.NewClient(opts), nil
}
