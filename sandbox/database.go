package sandbox

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/ratelimit/redislimit"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// openStore opens what -db names.
func (o *options) openStore(ctx context.Context, log *slog.Logger) (*sqlstore.Store, error) {
	if isPostgres(o.db) {
		return postgres.Open(ctx, o.db, postgres.Config{DirectURL: o.dbDirect, Partitions: o.partitions, Logger: log})
	}
	if o.dbDirect != "" {
		return nil, usage(errors.New("-db-direct goes past a pooler: -db must be a postgres:// URL"))
	}
	if o.partitions {
		return nil, usage(errors.New("-partitions is for PostgreSQL: -db must be a postgres:// URL"))
	}
	return sqlite.Open(ctx, sqlite.Config{Path: o.db, Logger: log})
}

func isPostgres(db string) bool {
	return strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://")
}

// openLimiter opens what -redis names, or counts in memory. done releases it.
func (s *server) openLimiter(ctx context.Context, address string) (limiter ratelimit.Limiter, done func(), err error) {
	if address == "" {
		limiter, err = ratelimit.NewMemory(ratelimit.MemoryConfig{})
		return limiter, func() {}, err
	}
	client, err := newRedis(address)
	if err != nil {
		// Its text may repeat the URL, and with it the password.
		return nil, nil, usage(errors.New("-redis is not of the form redis://user:password@host:port/number, with addr= for the other nodes of a cluster, or with master_name= and addr= for Sentinel"))
	}
	if err := client.Ping(ctx).Err(); err != nil {
		s.log.Warn("redis does not respond, limits are counted in memory until it does", "err", err)
	}
	limiter, err = redislimit.New(redislimit.Config{Client: client, Logger: s.log, MeterProvider: s.metrics.library})
	return limiter, func() { _ = client.Close() }, err
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
