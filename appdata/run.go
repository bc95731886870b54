package appdata

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/internal/janitor"
	"github.com/partnerkit/partnerkit/storage"
)

// purgeEvery is how often ended values are deleted. They are invisible before that.
const purgeEvery = time.Hour

// Run deletes the values of deleted fields and of apps whose business.redact was
// recorded, until ctx ends, and then returns nil. Any number of nodes may run it. After
// an error, which is logged, Run tries again in the next hour.
func (s *Service) Run(ctx context.Context) error {
	janitor.Janitor{
		Feature: "appdata", Every: purgeEvery, Clock: s.cfg.Clock, Logger: s.cfg.Logger,
		Tasks: func(time.Time) []janitor.Task { return []janitor.Task{{Name: "purge", Do: s.purge}} },
	}.Run(ctx)
	return nil
}

// purge deletes a batch. Unlike elsewhere, more may be left after a batch that is not full.
func (s *Service) purge(ctx context.Context) (more bool, err error) {
	n, err := s.cfg.Store.Purge(ctx, storage.Purge{Kind: storage.PurgeAppData, Limit: janitor.BatchSize})
	return n > 0, err
}
