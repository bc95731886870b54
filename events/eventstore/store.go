// Package eventstore is what package events asks of a store. Authors of stores implement
// [Store]; a host needs no name of it. It lies below package events, whose Config names it; the
// record, [partner.Event], is in package partner.
package eventstore

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// TopicRecorded has news when events were recorded.
const TopicRecorded = "events"

// Store keeps events.
//
// A committed event gets its number afterwards, under a lock of its business, so
// that no transaction of the host's waits for another: numbers are given in rounds,
// each to all events of the business that have committed by then, by time and id
// within a round. What commits later gets a greater number; there may be gaps.
type Store interface {
	// RecordEvents records events.
	RecordEvents(ctx context.Context, recorded ...partner.Event) error
	// RecordEventsIn records events inside a transaction on the store's database, in a
	// savepoint of their own. The transaction may be one of BeginTx or the host's.
	RecordEventsIn(ctx context.Context, tx storage.Tx, recorded ...partner.Event) error
	// BeginTx opens a transaction that the caller ends, for rows of the host and the
	// operations that take a transaction. Its commit wakes what waits for them.
	BeginTx(ctx context.Context) (storage.OpenTx, error)
	// InTx runs do in a transaction of BeginTx and commits it. When do fails, it is rolled
	// back and the error of do is returned.
	InTx(ctx context.Context, do func(tx storage.Tx) error) error
	// NumberEvents gives numbers to committed events of a business that have none, and writes
	// nothing when there are none. It takes a bounded time, and reports whether there are
	// more.
	NumberEvents(ctx context.Context, businessID string) (hasMore bool, err error)
	// Events returns the events that a query asks for, by number.
	Events(ctx context.Context, q Query) ([]partner.Event, error)
	// Purge deletes a batch of records of the kind [storage.PurgeEvents], and returns how
	// many it deleted.
	Purge(ctx context.Context, p storage.Purge) (int, error)
}

// Query selects one event of a business, or its numbered events of some types. Events for
// a single app are selected separately.
type Query struct {
	BusinessID string
	EventID    string   // the event, even if it has no number; the fields below do not count
	Types      []string // of events that have no AppID
	AppID      string
	AppTypes   []string  // of events that have this AppID
	After      int64     // only greater numbers
	Since      time.Time // recorded then or later
	Limit      int
}
