package sqlite

import (
	"database/sql/driver"
	"errors"
	"log/slog"
	"runtime"
	"time"

	"modernc.org/sqlite"
)

// Memory is the path of a database that lives as long as its store. It is a
// file in a temporary directory, removed at Close, and so behaves like any
// other in all but its end.
const Memory = ":memory:"

// Config configures a database file. Only Path is required.
type Config struct {
	// Path of the database file, or [Memory].
	Path string
	// Readers is how many connections read at the same time; 0 means twice the
	// number of processors, at least 4.
	Readers int
	// WriteWait is how long a write waits for its turn before it fails with
	// storage.ErrBusy; 0 means 5 seconds.
	WriteWait time.Duration
	// MaxBatch is how many operations are committed together at most; 0 means 256.
	MaxBatch int
	// Connector returns the connector that opens connections to a data source name of
	// modernc.org/sqlite. nil means sqlite.NewConnector of that package. A host can
	// wrap it to trace or measure statements.
	Connector func(dsn string) (driver.Connector, error)
	// Shards is how many parts the planning and the sending of webhooks each have; 0 means
	// webhookstore.DefaultShards. It counts when the database is made.
	Shards int
	// SkipMigrations leaves the tables to the host's own migration tool; see
	// sqlstore.Migrations. Open then returns storage.ErrOlderSchema if migrations are
	// missing.
	SkipMigrations bool
	// Logger receives warnings about repeated batches, and about a log that grows because a
	// read stays open; nil discards them.
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Path == "":
		return c, errors.New("sqlite: Config.Path is empty; name a file, or sqlite.Memory")
	case c.Readers < 0 || c.WriteWait < 0 || c.MaxBatch < 0:
		return c, errors.New("sqlite: a number in Config is negative")
	}
	if c.Readers == 0 {
		c.Readers = max(4, 2*runtime.GOMAXPROCS(0))
	}
	if c.WriteWait == 0 {
		c.WriteWait = 5 * time.Second
	}
	if c.MaxBatch == 0 {
		c.MaxBatch = 256
	}
	if c.Connector == nil {
		c.Connector = sqlite.NewConnector
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
