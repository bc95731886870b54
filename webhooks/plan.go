package webhooks

import (
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
)

// plan decides who hears of which event: webhooks that subscribe to it, and that
// may see it, and that were there, with their installation, when it was recorded.
// errs are of deliveries that cannot be made, because the host's catalog fails.
func (s *Service) plan(u Unplanned, now time.Time) (p Plan, errs []error) {
	p.Events = u.Events
	for _, e := range u.Events {
		definition, ok := s.cfg.Catalog.Lookup(e.Type)
		if !ok {
			continue // nobody can have subscribed to it
		}
		subscribers := u.ByBusiness[e.BusinessID]
		if definition.Audience == events.AudienceApp {
			subscribers = u.ByApp[e.AppID]
		}
		for _, to := range subscribers {
			if !to.hears(definition, e) {
				continue
			}
			// All are due now, and wait in the order of their ids: that of their events.
			at := now.Add(time.Duration(len(p.Deliveries)) * id.Resolution)
			d, err := s.newDelivery(id.New(id.Delivery, at), to, e, now)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			p.Deliveries = append(p.Deliveries, d)
		}
	}
	return p, errs
}

func (to Subscriber) hears(definition events.Definition, e events.Event) bool {
	return slices.Contains(to.Events, e.Type) &&
		!to.CreatedAt.After(e.CreatedAt) && !to.InstalledAt.After(e.CreatedAt) &&
		definition.Judge(e.AppID, events.Viewer{
			AppID: to.AppID, AppScopes: to.AppScopes, IsInstalled: !to.InstalledAt.IsZero(), InstallationScopes: to.InstallationScopes,
		}) == events.Visible
}
