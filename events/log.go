package events

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/internal/janitor"
	"github.com/partnerkit/partnerkit/storage"
)

// Retention is the default of Config.Retention.
const Retention = 30 * 24 * time.Hour

// purgeEvery is how often old events are removed. An event that has expired is not shown even
// if it is not removed yet.
const purgeEvery = time.Hour

// Config of a [Log]. Store is required; the zero value of everything else is its
// default.
type Config struct {
	Store   eventstore.Store
	Catalog Catalog // empty: DefaultCatalog
	// CompileSchema compiles the schemas of the catalog, with which [Log.Record] then checks
	// data before it is recorded, and [New] the samples. Nil means that data is not checked.
	CompileSchema SchemaCompiler
	// Schemas are the JSON Schemas to which those of the catalog refer as
	// "#/components/schemas/Name". Only CompileSchema reads them.
	Schemas map[string]json.RawMessage
	// Retention is how long an event is kept, shown and taken as a cursor; 0 means 30
	// days.
	Retention time.Duration
	Clock     clock.Clock  // nil: the real time
	Logger    *slog.Logger // nil: discards
}

// Log is the events of all businesses. It is safe for concurrent use.
type Log struct {
	cfg    Config
	checks map[string]func(data json.RawMessage) error // by type; of those with a schema
}

// New checks the configuration and returns a log. It starts nothing: [Log.Run]
// removes what is old.
func New(cfg Config) (*Log, error) {
	if cfg.Store == nil {
		return nil, errors.New("events: Config.Store is nil")
	}
	if len(cfg.Catalog.All()) == 0 {
		cfg.Catalog = DefaultCatalog()
	}
	if cfg.Retention < 0 {
		return nil, errors.New("events: Config.Retention is negative")
	}
	cfg.Retention = cmp.Or(cfg.Retention, Retention)
	cfg.Clock = clock.From(cfg.Clock)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	checks, err := compileSchemas(cfg)
	if err != nil {
		return nil, err
	}
	return &Log{cfg: cfg, checks: checks}, nil
}

// Catalog returns the events that the log takes.
func (l *Log) Catalog() Catalog { return l.cfg.Catalog }

// Run removes events that are older than Config.Retention, until ctx ends, and then
// returns nil. Any number of nodes may run it. After an error, which is logged, Run
// tries again in the next hour.
func (l *Log) Run(ctx context.Context) error {
	janitor.Janitor{
		Feature: "events", Every: purgeEvery, Clock: l.cfg.Clock, Logger: l.cfg.Logger,
		Tasks: func(now time.Time) []janitor.Task {
			return []janitor.Task{janitor.Purge(l.cfg.Store, storage.Purge{Kind: storage.PurgeEvents, Before: now.Add(-l.cfg.Retention)})}
		},
	}.Run(ctx)
	return nil
}
