package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
		return postgres.Open(ctx, o.db, postgres.Config{DirectURL: o.dbDirect, Logger: log})
	}
	if o.dbDirect != "" {
		return nil, usage(errors.New("-db-direct goes past a pooler: -db must be a postgres:// URL"))
	}
	return sqlite.Open(ctx, sqlite.Config{Path: o.db, Logger: log})
}

func isPostgres(db string) bool {
	return strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://")
}

// openLimiter opens what -redis names, or counts in memory. done releases it.
func openLimiter(ctx context.Context, url string, p parts) (limiter ratelimit.Limiter, done func(), err error) {
	if url == "" {
		limiter, err = ratelimit.NewMemory(ratelimit.MemoryConfig{})
		return limiter, func() {}, err
	}
	opts, err := redis.ParseURL(url)
	if err != nil {
		// Its text may repeat the URL, and with it the password.
		return nil, nil, usage(fmt.Errorf("-redis is not of the form redis://user:password@host:port/number"))
	}
	opts.ContextTimeoutEnabled = true // so that a slow Redis delays no request
	opts.MaxRetries = -1              // a command that is sent twice counts twice
	client := redis.NewClient(opts)
	if err := client.Ping(ctx).Err(); err != nil {
		p.log.Warn("redis does not respond, limits are counted in memory until it does", "address", opts.Addr)
	}
	limiter, err = redislimit.New(redislimit.Config{Client: client, Logger: p.log, MeterProvider: p.metrics.library})
	return limiter, func() { _ = client.Close() }, err
}
