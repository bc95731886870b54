package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// connectWithin is the time limit for connecting to one host of the URL, unless the URL has
	// connect_timeout.
	connectWithin = 5 * time.Second
	// connLife is how old a connection gets. A service name that moved, or a balancer in front
	// of several poolers, is followed within this time even if nothing fails.
	connLife = 30 * time.Minute
	// pingWithin is how long a connection that was idle may take to respond, before another one
	// is used.
	pingWithin = 2 * time.Second
)

// keepAlive notices within 25 seconds that the machine at the other end is gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}

// pool is our own pool of connections to the server of a URL.
type pool struct {
	sql    *sql.DB
	name   string // host and database, for errors
	server server
	// generation counts the failovers that we have noticed. Older connections are not used
	// again.
	generation *atomic.Int64
}

// generationKey is where a connection has the generation it was opened in.
const generationKey = "partnerkit generation"

// openPool connects to a postgres:// URL.
func openPool(ctx context.Context, url string, conns int, cfg Config) (*pool, error) {
	parsed, err := pgx.ParseConfig(url)
	if err != nil {
		// pgx quotes the URL in some of its errors.
		return nil, errors.New("postgres: the URL is not of the form postgres://user:password@host:port/database?option=value")
	}
	prepareFailover(parsed)
	isOurs := limitIdle(parsed, cfg.IdleTransaction)
	p, err := connect(ctx, parsed, conns)
	if err != nil && isOurs && refusesSetting(err) {
		cfg.Logger.WarnContext(ctx, "postgres: a pooler refuses "+idleSetting+"; set it for the user or the database", "err", err)
		delete(parsed.RuntimeParams, idleSetting)
		p, err = connect(ctx, parsed, conns)
	}
	if err != nil || !p.server.sharesNames || parsed.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement {
		return p, err
	}
	if err := p.sql.Close(); err != nil {
		return nil, err
	}
	// Parameters and rows keep the types that the server tells, and a statement has no name.
	parsed.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	return connect(ctx, parsed, conns)
}

// prepareFailover has connections find the server that takes writes, and notice one that is
// gone.
func prepareFailover(parsed *pgx.ConnConfig) {
	if parsed.ConnectTimeout == 0 {
		parsed.ConnectTimeout = connectWithin
	}
	dialer := &net.Dialer{KeepAliveConfig: keepAlive, Control: limitUnacknowledged}
	parsed.DialFunc = dialer.DialContext
	if parsed.ValidateConnect == nil && hasSeveralHosts(parsed) { // the URL has no target_session_attrs
		parsed.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
}

// hasSeveralHosts reports whether the URL names more than one server. One host has a
// fallback too, without TLS, if the URL allows both.
func hasSeveralHosts(parsed *pgx.ConnConfig) bool {
	for _, other := range parsed.Fallbacks {
		if other.Host != parsed.Host || other.Port != parsed.Port {
			return true
		}
	}
	return false
}

// idleSetting is the setting that ends transactions of a client that hangs.
const idleSetting = "idle_in_transaction_session_timeout"

// limitIdle has every connection begin with the setting, unless the URL has one.
func limitIdle(to *pgx.ConnConfig, after time.Duration) (isOurs bool) {
	if _, given := to.RuntimeParams[idleSetting]; given || after < 0 {
		return false
	}
	to.RuntimeParams[idleSetting] = strconv.FormatInt(max(1, after.Milliseconds()), 10)
	return true
}

// connect opens a pool, asks for a first connection, and looks at the server.
func connect(ctx context.Context, parsed *pgx.ConnConfig, conns int) (*pool, error) {
	p := &pool{generation: new(atomic.Int64), name: net.JoinHostPort(parsed.Host, strconv.Itoa(int(parsed.Port))) + "/" + parsed.Database}
	p.sql = stdlib.OpenDB(*parsed,
		stdlib.OptionAfterConnect(func(_ context.Context, conn *pgx.Conn) error {
			conn.PgConn().CustomData()[generationKey] = p.generation.Load()
			return nil
		}),
		stdlib.OptionShouldPing(ping),
		stdlib.OptionResetSession(func(_ context.Context, conn *pgx.Conn) error {
			if conn.IsClosed() || conn.PgConn().CustomData()[generationKey] != p.generation.Load() {
				return driver.ErrBadConn
			}
			return nil
		}))
	p.sql.SetMaxOpenConns(conns)
	p.sql.SetMaxIdleConns(conns)
	p.sql.SetConnMaxIdleTime(5 * time.Minute)
	p.sql.SetConnMaxLifetime(connLife)
	if err := p.sql.PingContext(ctx); err != nil {
		return nil, errors.Join(
			fmt.Errorf("postgres: connect to %s as %s: %w; check that the server runs there and takes this user", p.name, parsed.User, plain(err)),
			p.sql.Close())
	}
	var err error
	if p.server, err = look(ctx, p.sql); err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: look at %s: %w", p.name, plain(err)), p.sql.Close())
	}
	return p, nil
}

// ping closes a connection that was idle and does not respond soon. It reports that
// database/sql need not ping the connection again.
func ping(ctx context.Context, params stdlib.ShouldPingParams) bool {
	if params.IdleDuration < time.Second {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, pingWithin)
	defer cancel()
	if err := params.Conn.Ping(ctx); err != nil {
		_ = params.Conn.Close(ctx)
	}
	return false
}

// sayPooled logs what a pooler costs.
func (p *pool) sayPooled(ctx context.Context, log *slog.Logger, hasDirect bool) {
	if p.server.sharesNames {
		log.InfoContext(ctx, "postgres: a pooler shares connections; statements are not prepared, so the server parses each one again", "server", p.name)
	}
	if p.server.isShared && !hasDirect {
		log.InfoContext(ctx, "postgres: no notifications arrive through a pooler; with Config.DirectURL new work is found at once", "server", p.name)
	}
}
