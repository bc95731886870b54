package appdata

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/storage"
)

// Ended values are deleted once an hour in small batches, so that requests do not wait.
// They are invisible before that.
const (
	purgeEvery = time.Hour
	purgeBatch = 200
)

// Run deletes the values of deleted fields and of apps whose business.redact was
// recorded, until ctx ends, and then returns nil. Any number of nodes may run it. After
// an error, which is logged, Run tries again in the next hour.
func (s *Service) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		now := s.cfg.Clock.Now()
		s.purge(ctx)
		_ = clock.Wait(ctx, s.cfg.Clock, now.Add(purgeEvery)) // its error is the end of ctx
	}
	return nil
}

func (s *Service) purge(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := s.cfg.Store.Purge(ctx, storage.Purge{Kind: storage.PurgeAppData, Limit: purgeBatch})
		if err != nil && ctx.Err() == nil {
			s.cfg.Logger.ErrorContext(ctx, "appdata: purge failed", "err", err)
		}
		if err != nil || n == 0 {
			return
		}
	}
}
