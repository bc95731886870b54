package oauthserver

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// The janitor runs once a minute and deletes a few rows at a time, so that its transactions
// stay short.
const (
	tidyEvery = time.Minute
	tidyBatch = 200
)

// Run does the periodic work until ctx ends, and then returns nil. It purges rows that have expired long enough ago and audit entries older than Config.AuditRetention, records
// business.redact when it is due, creates a new signing key once the newest is
// Config.KeyRotation old, and keeps signing keys sealed by the keyring's first key. Any number
// of nodes may run it.
func (s *Server) Run(ctx context.Context) error {
	defer s.core.Documents.CloseIdle()
	for ctx.Err() == nil {
		now := s.cfg.Clock.Now()
		s.tidy(ctx, now)
		_ = clock.Wait(ctx, s.cfg.Clock, now.Add(tidyEvery)) // its error is the end of ctx
	}
	return nil
}

// Tidy does at once what [Server.Run] does every minute.
func (s *Server) Tidy(ctx context.Context) { s.tidy(ctx, s.cfg.Clock.Now()) }

// tidy repeats each kind of work while its batches are full. An error is logged, and the work
// is tried again in the next minute.
func (s *Server) tidy(ctx context.Context, now time.Time) {
	work := map[string]func() (int, error){
		"purge": func() (int, error) {
			return s.cfg.Store.Purge(ctx, storage.Purge{Kind: storage.PurgeOAuth, Before: now, Lifetimes: s.cfg.Lifetimes.ofPurge(), Limit: tidyBatch})
		},
		"redact": func() (int, error) { return s.recordRedactions(ctx, now) },
		"audit": func() (int, error) {
			return s.cfg.Store.Purge(ctx, storage.Purge{Kind: storage.PurgeAudit, Before: now.Add(-s.cfg.AuditRetention), Limit: tidyBatch})
		},
		"keys": func() (int, error) { return 0, s.core.Keys.Maintain(ctx, now, s.cfg.KeyRotation) },
	}
	for name, batch := range work {
		for ctx.Err() == nil {
			n, err := batch()
			if err != nil && ctx.Err() == nil {
				s.cfg.Logger.ErrorContext(ctx, "oauth: periodic work failed", "work", name, "err", err)
			}
			if err != nil || n < tidyBatch {
				break
			}
		}
	}
}

// recordRedactions records business.redact for at most tidyBatch installations, and tells the
// host's staff. It returns how many timers it settled.
func (s *Server) recordRedactions(ctx context.Context, now time.Time) (int, error) {
	redacted := map[string]events.Notification{} // the operation may run more than once
	n, err := s.cfg.Store.RecordRedactions(ctx, now, tidyBatch, func(i partner.Installation) []partner.Event {
		redacted[i.ID] = events.Notification{Kind: events.NotifyBusinessRedacted, At: now, AppID: i.AppID, BusinessID: i.BusinessID}
		return core.AppEvent(events.BusinessRedact, i, map[string]any{"id": i.BusinessID}, now)
	})
	if err == nil {
		s.cfg.Notifications.Tell(ctx, slices.Collect(maps.Values(redacted))...)
	}
	return n, err
}
