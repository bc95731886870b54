package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events/schemacheck"
	"github.com/partnerkit/partnerkit/examples/books"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// developmentSessionLifetime is long because the clock is moved by months, and signing in
// again after each move would only be in the way.
const developmentSessionLifetime = 10 * 365 * 24 * time.Hour

// relax changes the configuration for development mode: partners' programs run on this
// machine, the clock can be moved, registration is open, and what the backend records must
// follow the schemas of the events.
func (s *server) relax(cfg *partnerkit.Config) {
	cfg.Webhooks.AllowLoopback = true
	cfg.Webhooks.Fault = s.faults.ofDelivery
	s.told = &notifications{next: cfg.Notifier}
	cfg.Notifier = s.told
	cfg.MoveClock = s.moveClock
	cfg.RecordEvent = s.recordEvent
	cfg.CompileSchema = schemacheck.Compile
	developmentPolicies(s.books, cfg.Store, &cfg.OAuth)
}

// registeredApps is how many apps the first organization may have when an anonymous
// registration adds one. It leaves room for the apps of its developers.
const registeredApps = 50

// developmentPolicies opens registration, which needs a token outside development mode.
// Anonymous registrations are apps of the first organization, and of none once that has many.
// An app without an organization goes to that of the first user who connects it.
func developmentPolicies(b *books.Books, store oauthstore.Store, cfg *oauthserver.Options) {
	cfg.Registration = func(r *http.Request) (string, error) {
		organization, err := b.FirstOrganization(r.Context())
		if errors.Is(err, books.ErrAbsent) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		has, err := store.Apps(r.Context(), partner.AppQuery{OrganizationIDs: []string{organization}, Limit: registeredApps})
		if err != nil || len(has) == registeredApps {
			return "", err
		}
		return organization, nil
	}
	cfg.Unowned = func(ctx context.Context, _ partner.App, userID string) (string, error) {
		organization, err := b.OrganizationOf(ctx, userID)
		if errors.Is(err, books.ErrAbsent) {
			return "", nil
		}
		return organization, err
	}
	cfg.Documents.AllowLoopback = true
}
