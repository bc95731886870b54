package webhooks

import (
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
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
	byApp map[string][]Subscriber

	plan Plan
	errs []error // deliveries that cannot be made because the host's catalog fails
}

// plan makes the deliveries of some of the unplanned events. The ids of deliveries begin
// at idsAt: the deliveries of a webhook are due at the same time and wait in the order of
// their ids, which is the order of their events.
func (s *Service) plan(u Unplanned, now, idsAt time.Time) *planning {
	businesses := max(len(u.Backlogs), 1)
	p := &planning{
		Service: s, now: now, idsAt: idsAt, byApp: u.ByApp,
		share: max(planDeliveries/businesses, 1), bytes: planBytes / businesses,
	}
	for _, b := range u.Backlogs {
		p.plan.Steps = append(p.plan.Steps, PlanStep{BusinessID: b.BusinessID, From: b.From, To: p.business(b)})
	}
	return p
}

// after returns the rest of the input once the plan is saved: backlogs whose events and
// webhooks were read and are not planned.
func (u Unplanned) after(p Plan) Unplanned {
	left := Unplanned{ByApp: u.ByApp}
	for i, b := range u.Backlogs {
		to := p.Steps[i].To
		wasPartial := b.From.WebhookID != "" // the webhooks before it were not read
		if b.HasMore || wasPartial && to.WebhookID == "" {
			continue
		}
		b.From = to
		b.Events = slices.DeleteFunc(slices.Clone(b.Events), func(e events.Event) bool { return e.Number <= to.Number })
		if len(b.Events) > 0 {
			left.Backlogs = append(left.Backlogs, b)
		}
	}
	return left
}

// business plans events of a business until it has used its share, and returns how far it
// came. It makes at least one delivery if there is one to make.
func (p *planning) business(b Backlog) PlanCursor {
	if b.From.WebhookID != "" && (len(b.Events) == 0 || b.Events[0].Number != b.From.Number+1) {
		return PlanCursor{Number: b.From.Number + 1} // the event was purged in between
	}
	at := b.From
	deliveries, bytes := 0, 0
	for _, e := range b.Events {
		at.Number = e.Number - 1
		definition, ok := p.cfg.Catalog.Lookup(e.Type)
		var subscribers []Subscriber
		hasMore := false
		switch {
		case !ok: // no webhook can have subscribed to it
		case definition.Audience == events.AudienceApp:
			subscribers = p.ofApp(e.AppID, at.WebhookID)
		default:
			subscribers, hasMore = behind(b.Subscribers, at.WebhookID), b.HasMore
		}
		for _, to := range subscribers {
			if !to.hears(definition, e) {
				continue
			}
			if deliveries == p.share || bytes > p.bytes {
				return at
			}
			bytes += p.deliver(to, e)
			deliveries++
			at.WebhookID = to.WebhookID
		}
		if hasMore {
			at.WebhookID = b.Subscribers[len(b.Subscribers)-1].WebhookID
			return at
		}
		at = PlanCursor{Number: e.Number}
		if b.From.WebhookID != "" {
			return at // the next event has webhooks that were not read
		}
	}
	return PlanCursor{Number: b.Last}
}

// behind returns the webhooks of a business that come after one of them, and all of them if
// it is not among them. They are in the order of the database, which need not be Go's: with a
// collation other than C it sorts the ids of a host in another way.
func behind(subscribers []Subscriber, webhookID string) []Subscriber {
	if webhookID == "" {
		return subscribers
	}
	at := slices.IndexFunc(subscribers, func(s Subscriber) bool { return s.WebhookID == webhookID })
	return subscribers[at+1:]
}

// ofApp returns the webhooks of an app that come after one of them, which may be gone.
func (p *planning) ofApp(appID, webhookID string) []Subscriber {
	all := p.byApp[appID]
	at, found := slices.BinarySearchFunc(all, webhookID, func(s Subscriber, id string) int { return strings.Compare(s.WebhookID, id) })
	if found {
		at++
	}
	return all[at:]
}

// deliver adds a delivery and returns the size of its body.
func (p *planning) deliver(to Subscriber, e events.Event) int {
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
func (to Subscriber) hears(definition events.Definition, e events.Event) bool {
	return slices.Contains(to.Events, e.Type) &&
		!to.CreatedAt.After(e.CreatedAt) && !to.InstalledAt.After(e.CreatedAt) &&
		definition.Check(e.AppID, events.Viewer{
			AppID: to.AppID, AppScopes: to.AppScopes, IsInstalled: !to.InstalledAt.IsZero(), InstallationScopes: to.InstallationScopes,
		}) == events.Visible
}
