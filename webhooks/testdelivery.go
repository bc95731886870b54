package webhooks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// testEvent is the event of a test of a webhook that has not chosen any event.
const testEvent = "invoice.created"

// SendTest queues a delivery for a developer who wants to see one arrive: the sample of an event
// of the catalog, marked "test": true, of no event and of the business "test". Without the name
// of an event it is the first that the webhook has chosen; a webhook that has chosen none gets
// invoice.created or, from a catalog without that, its first business event. It is signed, sent
// and retried like any other.
//
// [partner.ErrNotFound], or an error of apierror: the catalog has no such event, the app is not
// usable, or the webhook is off; nothing is queued then.
func (s *Service) SendTest(ctx context.Context, appID, webhookID, event string) (partner.Delivery, error) {
	chosen, ok := s.cfg.Catalog.Lookup(event)
	if event != "" && !ok {
		return partner.Delivery{}, apierror.InvalidAt("event", "%.64q is not in the catalog", event)
	}
	now := s.now()
	deliveryID := id.New(id.Delivery, now)
	return s.cfg.Store.QueueTest(ctx, appID, webhookID, func(to webhookstore.Target) (partner.Delivery, error) {
		if err := s.refusal(partner.Delivery{}, to.Standing); err != nil {
			return partner.Delivery{}, err
		}
		definition := chosen
		if event == "" {
			definition = s.testedWith(to.Webhook.Events)
		}
		return s.newDelivery(deliveryID, webhookstore.Subscriber{WebhookID: webhookID, AppID: appID, PinnedVersion: to.PinnedVersion},
			partner.Event{Type: definition.Name, BusinessID: testBusiness, Data: definition.Sample, CreatedAt: now}, now)
	})
}

// testedWith returns the first of the names that the catalog still knows.
func (s *Service) testedWith(names []string) events.Definition {
	for _, name := range append(names[:len(names):len(names)], testEvent) {
		if definition, ok := s.cfg.Catalog.Lookup(name); ok {
			return definition
		}
	}
	all := s.cfg.Catalog.All()
	for _, definition := range all {
		if definition.Audience == events.AudienceBusiness {
			return definition
		}
	}
	return all[0] // a catalog without any event of a business
}

// markTest adds "test": true to the data of a test.
func markTest(data json.RawMessage) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("sample is not a JSON object: %w", err)
	}
	members["test"] = json.RawMessage("true")
	return apierror.EncodeJSON(members)
}
