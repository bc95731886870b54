// Package callstore is what package analytics asks of a store: counts of calls, usage, the request
// log and times of last use. Authors of stores implement [Store]; a host needs no name of it but
// those of the records that package analytics shows.
package callstore

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

// Store keeps buckets, and when each installation, client secret and console token was used
// last. All methods are safe for concurrent use.
type Store interface {
	// AddCalls adds the buckets, groups and requests of a batch to what is stored, and keeps
	// the later of what is stored and what the batch has as the last use of each id: all of
	// it, or nothing. A batch that was added before, by its writer and number, changes
	// nothing and is not an error.
	AddCalls(ctx context.Context, batch Batch) error
	// Calls returns the buckets of an app whose hours begin at from or later
	// and before to, oldest first. Hours without calls have none.
	Calls(ctx context.Context, appID string, from, to time.Time) ([]Bucket, error)
	// CallGroups adds up the groups of an app of the days that begin at from or later and
	// before to, and returns those with the most calls, most first, then by key. Their Day
	// is zero.
	CallGroups(ctx context.Context, q GroupQuery) ([]Group, error)
	// Usage lists the groups by business of an app on the days From to To, both included, by
	// day and then by business, beginning behind After. From, To and the day of After are
	// beginnings of days.
	Usage(ctx context.Context, q UsageQuery) ([]Usage, error)
	// LastUses returns when each was used last; what was never used is not in it.
	LastUses(ctx context.Context, ids []string) (map[string]time.Time, error)
	// Requests lists entries of the request log, newest first.
	Requests(ctx context.Context, q RequestQuery) ([]Request, error)
	// TrimRequests deletes entries of an app beyond its newest keep ones, at most limit, and
	// returns how many.
	TrimRequests(ctx context.Context, appID string, keep, limit int) (int, error)
	// Purge deletes a batch of records of the kinds [storage.PurgeCalls],
	// storage.PurgeCallGroups, storage.PurgeUsage and storage.PurgeRequests, and returns how
	// many it deleted.
	Purge(ctx context.Context, p storage.Purge) (int, error)
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
