package idempotency

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/internal/janitor"
	"github.com/partnerkit/partnerkit/storage"
)

// purgeEvery is how often old keys are deleted. An expired key counts as new even before it is
// deleted.
const purgeEvery = time.Minute

// Run removes the keys that are older than [Config].Lifetime, until ctx ends, and
// then returns nil. Any number of nodes may run it. After an error, which is
// logged, Run tries again in the next minute.
func (i *Keys) Run(ctx context.Context) error {
	i.janitor().Run(ctx)
	return nil
}

func (i *Keys) janitor() janitor.Janitor {
	return janitor.Janitor{
		Feature: "idempotency", Every: purgeEvery, Clock: i.cfg.Clock, Logger: i.cfg.Logger,
		Tasks: func(now time.Time) []janitor.Task {
			return []janitor.Task{janitor.Purge(i.cfg.Store, storage.Purge{Kind: storage.PurgeKeys, Before: now, Real: time.Now()})}
		},
	}
}
