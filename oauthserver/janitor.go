package oauthserver

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
)

// The janitor looks once a minute and takes away a few rows at a time, so that
// nobody waits for it.
const (
	tidyEvery = time.Minute
	tidyBatch = 200
)

// Run does what no request causes, until ctx ends: it purges what is dead for
// long enough, and what is older than audit.Retention in the audit log, records
// business.redact when that is due, makes a new signing key when the last one is
// Config.KeyRotation old, and keeps signing keys sealed by the keyring's first key.
// Any number of nodes may run it. It returns the error of ctx.
func (s *Server) Run(ctx context.Context) error {
	defer s.documents.http.CloseIdle()
	for {
		now := s.cfg.Clock.Now()
		s.tidy(ctx, now)
		if err := clock.Wait(ctx, s.cfg.Clock, now.Add(tidyEvery)); err != nil {
			return err
		}
	}
}

// Tidy does at once what [Server.Run] does every minute.
func (s *Server) Tidy(ctx context.Context) { s.tidy(ctx, s.cfg.Clock.Now()) }

// tidy goes on as long as batches come back full. A fault is logged and left for
// the next minute.
func (s *Server) tidy(ctx context.Context, now time.Time) {
	redact := func(i Installation) []events.Event { return installationEvent(events.BusinessRedact, i, now) }
	work := map[string]func() (int, error){
		"purge":  func() (int, error) { return s.cfg.Store.Purge(ctx, now, tidyBatch) },
		"redact": func() (int, error) { return s.cfg.Store.RecordRedactions(ctx, now, tidyBatch, redact) },
		"audit":  func() (int, error) { return s.cfg.Store.PurgeAudit(ctx, now.Add(-audit.Retention), tidyBatch) },
		"keys":   func() (int, error) { return 0, s.keys.tend(ctx, now, s.cfg.KeyRotation) },
	}
	for name, batch := range work {
		for ctx.Err() == nil {
			n, err := batch()
			if err != nil && ctx.Err() == nil {
				s.cfg.Logger.ErrorContext(ctx, "oauth: janitor", "work", name, "err", err)
			}
			if err != nil || n < tidyBatch {
				break
			}
		}
	}
}
