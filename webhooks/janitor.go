package webhooks

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

// tidyBatch is the number of deliveries purged in one transaction: few, so that sending
// does not wait.
const tidyBatch = 200

// tidy purges the records that are older than Config.PurgeAfter, until a batch is not full.
// Any number of nodes may do so. After an error, which is logged, the next call tries again.
func (s *Service) tidy(ctx context.Context, now time.Time) {
	for ctx.Err() == nil {
		n, err := s.store.Purge(ctx, storage.Purge{Kind: storage.PurgeDeliveries, Before: now.Add(-s.cfg.PurgeAfter), Limit: tidyBatch})
		if err != nil && ctx.Err() == nil {
			s.cfg.Logger.ErrorContext(ctx, "webhooks: purge failed", "err", err)
		}
		if err != nil || n < tidyBatch {
			return
		}
	}
}
