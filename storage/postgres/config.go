package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"
)

// Config configures a database. The zero value suits most hosts.
type Config struct {
	// Schema that holds our tables, created when absent; empty means the first
	// of the connection's search path. The statements name it themselves, so it
	// need not be on the search path.
	Schema string
	// MaxConns is how many connections [Open] opens at most; 0 means 10. A host
	// that brings its own *sql.DB sets its limits there.
	MaxConns int
	// DirectURL is a postgres:// URL of the same database that goes past a pooler. With it,
	// notifications between processes and migrations use up to three connections of their own.
	// Empty means the URL of [Open]. [New] rejects it.
	DirectURL string
	// IdleTransaction is how long a transaction on a connection of [Open] may wait
	// for its next statement before the server ends it, because other processes wait for
	// the locks of a process that hangs. 0 means 10 seconds; a negative value keeps the
	// server's setting. idle_in_transaction_session_timeout in the URL takes precedence.
	IdleTransaction time.Duration
	// Shards is how many parts the planning and the sending of webhooks each have; 0 means
	// webhookstore.DefaultShards. It counts when the database is made.
	Shards int
	// Partitions puts deliveries and attempts into a table for each day (PostgreSQL 12 or
	// later). Those of old days are dropped, which costs less than deleting their rows. The
	// tables that there are become the first partition. It cannot be undone.
	Partitions bool
	// SkipMigrations leaves the tables to the host's own migration tool; see
	// sqlstore.Migrations. Open then returns storage.ErrOlderSchema if migrations are
	// missing.
	SkipMigrations bool
	// Logger receives repeated operations and migrations; nil discards them.
	Logger *slog.Logger
}

// identifier matches names that PostgreSQL neither folds nor truncates.
var identifier = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

func (c Config) withDefaults() (Config, error) {
	if c.Schema != "" && !identifier.MatchString(c.Schema) {
		return c, fmt.Errorf("postgres: Config.Schema %q: want lower-case letters, digits and _, at most 63", c.Schema)
	}
	if c.MaxConns < 0 {
		return c, errors.New("postgres: Config.MaxConns is negative")
	}
	if c.MaxConns == 0 {
		c.MaxConns = 10
	}
	c.IdleTransaction = cmp.Or(c.IdleTransaction, 10*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
