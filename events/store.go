package events

import (
	"context"
	"errors"
	"time"
)

// ErrNotFound says that the business has no such event.
var ErrNotFound = errors.New("event not found")

// TopicRecorded has news when events were recorded.
const TopicRecorded = "events"

// Recorder takes events. A store does, by itself, and one that its WithTx
// returned does in the host's transaction.
type Recorder interface {
	RecordEvents(ctx context.Context, recorded ...Event) error
}

// Store keeps events.
//
// A committed event gets its number afterwards, under a lock of its business, so
// that no transaction of the host's waits for another: numbers are given in rounds,
// each to all events of the business that have committed by then, by time and id
// within a round. What commits later gets a greater number; there may be gaps.
type Store interface {
	Recorder
	// NumberEvents gives numbers to all committed events of a business that have
	// none. When there are none it writes nothing.
	NumberEvents(ctx context.Context, businessID string) error
	// Event returns one of a business; [ErrNotFound].
	Event(ctx context.Context, businessID, eventID string) (Event, error)
	// Events returns numbered events of a business, by number.
	Events(ctx context.Context, q Query) ([]Event, error)
	// PurgeEvents deletes at most limit events that were recorded before a time
	// and returns how many.
	PurgeEvents(ctx context.Context, before time.Time, limit int) (int, error)
}

// Query asks for events of a business, of some types. Those that are for one app
// alone are asked for by themselves.
type Query struct {
	BusinessID string
	Types      []string // of events that have no AppID
	AppID      string
	AppTypes   []string  // of events that have this AppID
	After      int64     // only greater numbers
	Since      time.Time // recorded then or later
	Limit      int
}
