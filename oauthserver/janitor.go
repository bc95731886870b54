package oauthserver

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/janitor"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// tidyEvery is how often the periodic work is done.
const tidyEvery = time.Minute

// Run does the periodic work until ctx ends, and then returns nil. It purges rows that have
// expired long enough ago and audit entries older than Config.AuditRetention, records business.redact when it is due, creates a new signing key once the newest is
// Config.KeyRotation old, and keeps signing keys sealed by the keyring's first key. Any number
// of nodes may run it.
func (s *Server) Run(ctx context.Context) error {
	defer s.core.Documents.CloseIdle()
	s.janitor().Run(ctx)
	return nil
}

// Tidy does at once what [Server.Run] does every minute.
func (s *Server) Tidy(ctx context.Context) { s.janitor().Tidy(ctx, s.cfg.Clock.Now()) }

func (s *Server) janitor() janitor.Janitor {
	return janitor.Janitor{
		Feature: "oauth", Every: tidyEvery, Clock: s.cfg.Clock, Logger: s.cfg.Logger,
		Tasks: func(now time.Time) []janitor.Task {
			return []janitor.Task{
				janitor.Purge(s.cfg.Store, storage.Purge{Kind: storage.PurgeOAuth, Before: now, Lifetimes: s.cfg.Lifetimes.ofPurge()}),
				janitor.Purge(s.cfg.Store, storage.Purge{Kind: storage.PurgeAudit, Before: now.Add(-s.cfg.AuditRetention)}),
				{Name: "recording redactions", Do: func(ctx context.Context) (bool, error) { return s.recordRedactions(ctx, now) }},
				{Name: "key maintenance", Do: func(ctx context.Context) (bool, error) {
					return false, s.core.Keys.Maintain(ctx, now, s.cfg.KeyRotation)
				}},
			}
		},
	}
}

// recordRedactions records business.redact for at most janitor.BatchSize installations, and tells the
// host's staff. It reports whether more may be due.
func (s *Server) recordRedactions(ctx context.Context, now time.Time) (more bool, err error) {
	redacted := map[string]events.Notification{} // the operation may run more than once
	n, err := s.cfg.Store.RecordRedactions(ctx, now, janitor.BatchSize, func(i partner.Installation) []partner.Event {
		redacted[i.ID] = events.Notification{Kind: events.NotifyBusinessRedacted, At: now, AppID: i.AppID, BusinessID: i.BusinessID}
		return core.AppEvent(events.BusinessRedact, i, map[string]any{"id": i.BusinessID}, now)
	})
	if err == nil {
		s.cfg.Notifications.Tell(ctx, slices.Collect(maps.Values(redacted))...)
	}
	return n == janitor.BatchSize, err
}
