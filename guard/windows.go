package guard

import (
	"context"

	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/storage"
)

// WindowStore keeps the counts of long windows of rate limits over a restart.
type WindowStore interface {
	// SaveLimitWindows stores counts, each with the key, the length and the end of its window.
	// Of two counts of one window the greater one stays: a save that is repeated changes
	// nothing.
	SaveLimitWindows(ctx context.Context, windows []ratelimit.WindowCount) error
	// LimitWindows lists windows that end after a time, by key, length and end.
	LimitWindows(ctx context.Context, q ratelimit.WindowQuery) ([]ratelimit.WindowCount, error)
	// Purge deletes a batch of storage.PurgeLimitWindows and returns how many it deleted.
	Purge(ctx context.Context, p storage.Purge) (int, error)
}
