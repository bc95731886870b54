package appdata

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/clock"
)

// What has ended is looked for once an hour and taken away a few rows at a time, so
// that nobody waits for it. Nobody sees it in the meantime.
const (
	purgeEvery = time.Hour
	purgeBatch = 200
)

// Run takes away the values of deleted fields and of apps whose business.redact was
// recorded, until ctx ends, and returns its error. Any number of nodes may run it. A
// fault is logged and left for the next hour.
func (s *Service) Run(ctx context.Context) error {
	for {
		now := s.cfg.Clock.Now()
		s.purge(ctx)
		if err := clock.Wait(ctx, s.cfg.Clock, now.Add(purgeEvery)); err != nil {
			return err
		}
	}
}

func (s *Service) purge(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := s.cfg.Store.PurgeAppData(ctx, purgeBatch)
		if err != nil && ctx.Err() == nil {
			s.cfg.Logger.ErrorContext(ctx, "appdata: what has ended is not removed", "err", err)
		}
		if err != nil || n == 0 {
			return
		}
	}
}
