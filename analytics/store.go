package analytics

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

// Store keeps buckets, and when each installation, client secret and console token was used
// last. storage/sqlite and storage/postgres open one.
type Store interface {
	// AddCalls adds the buckets, groups and requests of a batch to what is stored, and keeps
	// the later of what is stored and what the batch has as the last use of each id: all of
	// it, or nothing. A batch that was added before, by its writer and number, changes
	// nothing and is not an error.
	AddCalls(ctx context.Context, batch Batch) error
	// Calls returns the buckets of an app whose hours begin at from or later
	// and before to, oldest first. Hours without calls have none.
	Calls(ctx context.Context, appID string, from, to time.Time) ([]Bucket, error)
	// Purge deletes a batch of records of the kinds [storage.PurgeCalls],
	// storage.PurgeCallGroups, storage.PurgeUsage and storage.PurgeRequests, and returns how
	// many it deleted.
	Purge(ctx context.Context, p storage.Purge) (int, error)
	// LastUses returns when each was used last; what was never used is not in it.
	LastUses(ctx context.Context, ids []string) (map[string]time.Time, error)

	GroupStore
	UsageStore
	RequestStore
}

// Batch is buckets that are written together.
type Batch struct {
	// Writer is one counter in one run of a process.
	Writer string
	// Number grows with each batch of a writer, which adds one after the other.
	Number int64
	// At is the time of the batch.
	At time.Time
	// Buckets in any order. Those of one app and hour add up.
	Buckets []Bucket
	// Uses holds the times of the last use of installations, client secrets and console
	// tokens, by their ids.
	Uses map[string]time.Time
	// Groups in any order. Those of one app, day and key add up.
	Groups []Group
	// Requests are entries of the request log.
	Requests []Request
}
