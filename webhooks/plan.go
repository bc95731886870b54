package webhooks

import (
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// Bounds of one plan. Other writers wait while it is saved, on SQLite all of them.
const (
	planDeliveries = 250
	planBytes      = 1 << 20 // of bodies
)

// planning builds a plan. Businesses share its deliveries equally, so that one with many
// events or webhooks does not delay the others.
type planning struct {
	*Service
	now   time.Time
	idsAt time.Time // of the next delivery's id
	share int       // deliveries of one business
	bytes int       // bytes of one business's bodies
	byApp map[string][]webhookstore.Subscriber

	plan    webhookstore.Plan
	hasMore map[string]bool // whether a business has more events, or its last event more webhooks
	errs    []error         // deliveries that cannot be made because the host's catalog fails
}

// plan makes the deliveries of some of the unplanned events. The ids of deliveries begin
// at idsAt: the deliveries of a webhook are due at the same time and wait in the order of
// their ids, which is the order of their events.
func (s *Service) plan(u webhookstore.Unplanned, now, idsAt time.Time) *planning {
	businesses := max(len(u.Businesses), 1)
	p := &planning{
		Service: s, now: now, idsAt: idsAt, byApp: u.ByApp, hasMore: map[string]bool{},
		share: max(planDeliveries/businesses, 1), bytes: planBytes / businesses,
	}
	for _, b := range u.Businesses {
		planned, webhook := p.business(b)
		p.plan.Steps = append(p.plan.Steps, webhookstore.PlanStep{BusinessID: b.BusinessID, Numbered: b.Numbered, Events: b.Events[:planned], Webhook: webhook})
		p.hasMore[b.BusinessID] = webhook != "" || planned < len(b.Events) || b.HasMore
	}
	return p
}

// business plans events of a business until it has used its share. It returns how many it
// has come to, and the webhook up to which the last of them has its deliveries; empty if it has
// all. It makes at least one delivery if there is one to make.
func (p *planning) business(b webhookstore.Unsent) (planned int, webhook string) {
	deliveries, bytes := 0, 0
	for i, e := range b.Events {
		subscribers, hasMore := p.subscribers(b, e)
		done := e.Planned
		for _, to := range subscribers {
			definition, _ := p.cfg.Catalog.Lookup(e.Type)
			if !hears(to, definition, e.Event) {
				continue
			}
			if deliveries == p.share || bytes > p.bytes {
				if done == "" { // nothing of this event
					return i, ""
				}
				return i + 1, done
			}
			bytes += p.deliver(to, e.Event)
			deliveries++
			done = to.WebhookID
		}
		if hasMore {
			return i + 1, b.Subscribers[len(b.Subscribers)-1].WebhookID
		}
		if e.Planned != "" {
			return i + 1, "" // the next event has webhooks that were not read
		}
	}
	return len(b.Events), ""
}

// subscribers returns the webhooks that an event may be for and that have no delivery of it,
// and whether there are more.
func (p *planning) subscribers(b webhookstore.Unsent, e webhookstore.Pending) (all []webhookstore.Subscriber, hasMore bool) {
	definition, ok := p.cfg.Catalog.Lookup(e.Type)
	switch {
	case !ok: // it was purged, or no webhook can have subscribed to it
		return nil, false
	case definition.Audience == events.AudienceApp:
		return p.ofApp(e.AppID, e.Planned), false
	}
	return behind(b.Subscribers, e.Planned), b.HasMoreSubscribers
}

// behind returns the webhooks of a business that come after one of them, and all of them if
// it is not among them. They are in the order of the database, which need not be Go's: with a
// collation other than C it sorts the ids of a host in another way.
func behind(subscribers []webhookstore.Subscriber, webhookID string) []webhookstore.Subscriber {
	if webhookID == "" {
		return subscribers
	}
	at := slices.IndexFunc(subscribers, func(s webhookstore.Subscriber) bool { return s.WebhookID == webhookID })
	return subscribers[at+1:]
}

// ofApp returns the webhooks of an app that come after one of them, which may be gone.
func (p *planning) ofApp(appID, webhookID string) []webhookstore.Subscriber {
	all := p.byApp[appID]
	at, found := slices.BinarySearchFunc(all, webhookID, func(s webhookstore.Subscriber, id string) int { return strings.Compare(s.WebhookID, id) })
	if found {
		at++
	}
	return all[at:]
}

// deliver adds a delivery and returns the size of its body.
func (p *planning) deliver(to webhookstore.Subscriber, e partner.Event) int {
	d, err := p.newDelivery(id.New(id.Delivery, p.idsAt), to, e, p.now)
	if err != nil {
		p.errs = append(p.errs, err)
		return 0
	}
	d.CreatedAt = p.idsAt // which filters find by the id
	p.idsAt = p.idsAt.Add(id.Resolution)
	p.plan.Deliveries = append(p.plan.Deliveries, d)
	return len(d.Body)
}

// hears reports whether the webhook subscribes to the event, may see it, and existed, with
// its installation, when the event was recorded.
func hears(to webhookstore.Subscriber, definition events.Definition, e partner.Event) bool {
	return slices.Contains(to.Events, e.Type) &&
		!to.CreatedAt.After(e.CreatedAt) && !to.InstalledAt.After(e.CreatedAt) &&
		definition.IsVisible(e.AppID, events.Viewer{
			AppID: to.AppID, AppScopes: to.AppScopes, IsInstalled: !to.InstalledAt.IsZero(), InstallationScopes: to.InstallationScopes,
		})
}
