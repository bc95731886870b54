package events

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/partnerkit/partnerkit/clock"
)

// Retention is how long an event is kept, shown and taken as a cursor.
const Retention = 30 * 24 * time.Hour

// Old events are looked for once an hour and removed a few at a time, so that
// nobody waits for it. One that is not removed yet is not shown all the same.
const (
	purgeEvery = time.Hour
	purgeBatch = 200
)

// Config of a [Log]. Store is required; the zero value of everything else is its
// default.
type Config struct {
	Store   Store
	Catalog Catalog       // empty: DefaultCatalog
	Clock   clock.Movable // nil: the real time
	Logger  *slog.Logger  // nil: discards
}

// Log is the events of all businesses. It is safe for concurrent use.
type Log struct {
	cfg Config
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
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Log{cfg: cfg}, nil
}

// Catalog is the events that the log takes.
func (l *Log) Catalog() Catalog { return l.cfg.Catalog }

// Run removes events that are older than [Retention], until ctx ends, and returns
// its error. Any number of nodes may run it. A fault is logged and left for the
// next hour.
func (l *Log) Run(ctx context.Context) error {
	for {
		now := l.cfg.Clock.Now()
		l.purge(ctx, now)
		if err := clock.Wait(ctx, l.cfg.Clock, now.Add(purgeEvery)); err != nil {
			return err
		}
	}
}

// purge goes on as long as batches come back full.
func (l *Log) purge(ctx context.Context, now time.Time) {
	for ctx.Err() == nil {
		n, err := l.cfg.Store.PurgeEvents(ctx, now.Add(-Retention), purgeBatch)
		if err != nil && ctx.Err() == nil {
			l.cfg.Logger.ErrorContext(ctx, "events: old ones are not removed", "err", err)
		}
		if err != nil || n < purgeBatch {
			return
		}
	}
}
