package analytics

import (
	"context"
	"time"
)

// Store keeps buckets. storage/sqlite and storage/postgres open one.
type Store interface {
	// AddCalls adds the buckets of a batch to what is stored, all or none of
	// them. A batch that was added before, by its writer and number, changes
	// nothing and is no error.
	AddCalls(ctx context.Context, batch Batch) error
	// Calls returns the buckets of an app whose hours begin at from or later
	// and before to, oldest first. Hours without calls have none.
	Calls(ctx context.Context, appID string, from, to time.Time) ([]Bucket, error)
	// PurgeCalls deletes buckets, of any app, whose hours begin before a time,
	// and what is known of writers that added nothing since; at most limit of
	// each. It returns how many it deleted.
	PurgeCalls(ctx context.Context, before time.Time, limit int) (int, error)

	UseStore
}

// Batch is buckets that are written together.
type Batch struct {
	// Writer is one counter in one run of a process.
	Writer string
	// Number grows with each batch of a writer, which adds one after the other.
	Number int64
	// At is when the batch was put together.
	At time.Time
	// Buckets in any order. Those of one app and hour add up.
	Buckets []Bucket
}
