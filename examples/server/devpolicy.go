package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/examples/books"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// developmentSessionLifetime is long because the clock is moved by months, and signing in
// again after each move would only be in the way.
const developmentSessionLifetime = 10 * 365 * 24 * time.Hour

// relax changes the configuration for development mode: partners' programs run on this
// machine, the clock can be moved, and registration is open.
func (s *server) relax(cfg *partnerkit.Config) {
	cfg.Webhooks.AllowLoopback = true
	s.told = &notifications{next: cfg.Notifier}
	cfg.Notifier = s.told
	cfg.MoveClock = s.moveClock
	cfg.RecordEvent = s.recordEvent
	developmentPolicies(s.books, &cfg.OAuth)
}

// developmentPolicies opens registration, which needs a token outside development mode,
// and gives an app without an organization to that of the first user who connects it.
func developmentPolicies(b *books.Books, cfg *oauthserver.Options) {
	cfg.Registration = func(r *http.Request) (string, error) {
		organization, err := b.FirstOrganization(r.Context())
		if errors.Is(err, books.ErrAbsent) {
			return "", nil
		}
		return organization, err
	}
	cfg.Unowned = func(ctx context.Context, _ oauthserver.App, userID string) (string, error) {
		organization, err := b.OrganizationOf(ctx, userID)
		if errors.Is(err, books.ErrAbsent) {
			return "", nil
		}
		return organization, err
	}
	cfg.MaxApps = 10_000 // every anonymous registration is an app of the first organization
	cfg.Documents.AllowLoopback = true
}
