package webhooks

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// tidyBatch is the number of records purged in one transaction: few, so that sending does
// not wait.
const tidyBatch = 200

// keepMinutes is how long the counts of a minute are kept, which Health.FailureRate needs for
// [webhookstore.RatedFor].
const keepMinutes = webhookstore.RatedFor + time.Hour

// tidy purges old records until a batch is not full. Any number of nodes may do so. After
// an error, which is logged, the next call tries again.
func (s *Service) tidy(ctx context.Context, now time.Time) {
	s.purge(ctx, storage.Purge{Kind: storage.PurgeDeliveries, Before: now.Add(-s.cfg.PurgeAfter), Limit: tidyBatch})
	s.purge(ctx, storage.Purge{Kind: storage.PurgeHealth, Before: now.Add(-keepMinutes), Limit: tidyBatch})
}

func (s *Service) purge(ctx context.Context, p storage.Purge) {
	for ctx.Err() == nil {
		n, err := s.store.Purge(ctx, p)
		if err != nil && ctx.Err() == nil {
			s.cfg.Logger.ErrorContext(ctx, "webhooks: purge failed", "records", p.Kind, "err", err)
		}
		if err != nil || n < p.Limit {
			return
		}
	}
}
