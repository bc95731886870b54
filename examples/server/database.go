package main

import (
	"context"
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
func openStore(ctx context.Context, db string, log *slog.Logger) (*sqlstore.Store, error) {
	if strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://") {
		return postgres.Open(ctx, db, postgres.Config{Logger: log})
	}
	return sqlite.Open(ctx, sqlite.Config{Path: db, Logger: log})
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
