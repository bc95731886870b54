package webhooks

import (
	"context"
	"time"
)

// tidyBatch is how many deliveries are purged in one act: few, so that nobody who
// sends waits for it.
const tidyBatch = 200

// tidy purges what is older than Config.PurgeAfter, until a batch is not full. Any number
// of nodes may do so. A fault is logged and left for the next time.
func (s *Service) tidy(ctx context.Context, now time.Time) {
	for ctx.Err() == nil {
		n, err := s.store.PurgeDeliveries(ctx, now.Add(-s.cfg.PurgeAfter), tidyBatch)
		if err != nil && ctx.Err() == nil {
			s.cfg.Logger.ErrorContext(ctx, "webhooks: janitor", "err", err)
		}
		if err != nil || n < tidyBatch {
			return
		}
	}
}
