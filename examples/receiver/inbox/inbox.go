package inbox

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver
)

//go:embed schema.sql
var schema string

// DefaultLimit is how many events may wait.
const DefaultLimit = 1000

// ErrFull says that as many events wait as may.
var ErrFull = errors.New("the inbox is full")

// Config of an [Inbox]. Path and Work are required.
type Config struct {
	// Path of the SQLite file; it is made when there is none. One process has it.
	Path string
	// Work is called for each event, by one goroutine. An error brings the event
	// back later, after pauses that grow; meanwhile others get their turn.
	Work func(ctx context.Context, e Event) error
	// Limit is how many events may wait, at least a page of the Events API; 0
	// means [DefaultLimit].
	Limit  int
	Logger *slog.Logger // nil: discards
}

// Inbox keeps events until they are worked on, and their ids longer. It is safe
// for concurrent use.
type Inbox struct {
	cfg  Config
	db   *sql.DB
	wake chan struct{}
}

// Open opens the file.
func Open(ctx context.Context, cfg Config) (*Inbox, error) {
	cfg.Limit = cmp.Or(cfg.Limit, DefaultLimit)
	switch {
	case cfg.Path == "" || cfg.Work == nil:
		return nil, errors.New("inbox: Config.Path or Config.Work is missing")
	case cfg.Limit < pageSize:
		return nil, fmt.Errorf("inbox: Config.Limit is below %d, a page of the Events API", pageSize)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	// FULL: what was committed survives the machine, not just the process.
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(cfg.Path)}).EscapedPath(), RawQuery: url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)"}, "_txlock": {"immediate"},
	}.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("open inbox: %w", err)
	}
	db.SetMaxOpenConns(1) // every statement is short, and none meets a locked file
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("open inbox %s: %w", cfg.Path, err), db.Close())
	}
	return &Inbox{cfg: cfg, db: db, wake: make(chan struct{}, 1)}, nil
}

// Close closes the file. What waits goes on waiting in it.
func (i *Inbox) Close() error { return i.db.Close() }

// Pending returns how many events wait.
func (i *Inbox) Pending(ctx context.Context) (n int, err error) {
	err = i.db.QueryRowContext(ctx, "SELECT count(*) FROM event WHERE body IS NOT NULL").Scan(&n)
	return n, err
}
