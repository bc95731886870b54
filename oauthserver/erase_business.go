package oauthserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// installationsAtOnce is how many installations an erasure reads at once.
const installationsAtOnce = 100

// EraseBusiness uninstalls all apps in a business, records business.redact for them at once and
// removes what is kept of the business: app data, idempotency keys and, when the apps have been
// told, or their webhooks have failed for good, events and deliveries. Records that stay, such as
// ended installations, usage and audit entries, name [partner.ErasedBusiness] instead. The audit log
// names the user of the uninstallations; an empty userID means the service itself.
//
// It works in many short transactions, reports what it did, also beside an error, and can be
// called again: until Waiting is zero, to remove the rest, and after an error, to complete the
// erasure. A business of which nothing is left is not an error. The business may connect apps
// again, and then starts over.
func (s *Server) EraseBusiness(ctx context.Context, businessID, userID string) (partner.BusinessErasure, error) {
	var total partner.BusinessErasure
	if businessID == "" || businessID == partner.ErasedBusiness || !text.IsStorable(businessID) {
		return total, errors.New("erase business: invalid business id")
	}
	fail := func(err error) (partner.BusinessErasure, error) { return total, fmt.Errorf("erase business: %w", err) }
	for {
		found, err := s.cfg.Store.Installations(ctx, partner.InstallationQuery{BusinessID: businessID, Limit: installationsAtOnce})
		if err != nil {
			return fail(err)
		}
		if len(found) == 0 {
			break
		}
		for _, one := range found {
			end := oauthstore.EndInstallation{AppID: one.AppID, BusinessID: businessID, Status: partner.InstallationRemoved, RedactAt: s.cfg.Clock.Now()}
			switch err := s.core.EndInstallation(ctx, end, audited.Uninstalled, userID); {
			case errors.Is(err, partner.ErrNotFound): // it ended meanwhile
			case err != nil:
				return fail(err)
			default:
				total.Installations++
			}
		}
	}
	now := s.cfg.Clock.Now()
	if err := s.cfg.Store.HastenRedactions(ctx, businessID, now); err != nil {
		return fail(err)
	}
	for more := true; more; {
		var err error
		if more, err = s.recordRedactions(ctx, now); err != nil {
			return fail(err)
		}
	}
	for part := (oauthstore.EraseBusiness{BusinessID: businessID, Now: now, Limit: eraseBatch}); ; {
		done, err := s.cfg.Store.EraseBusiness(ctx, part)
		if err != nil {
			return fail(err)
		}
		total.Add(done.BusinessErasure)
		if done.Next == "" {
			return total, nil
		}
		part.After = done.Next
	}
}
