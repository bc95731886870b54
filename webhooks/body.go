package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/events"
)

// testBusiness stands in for the business in a test delivery.
const testBusiness = "test"

// body is what is sent. Its bytes are made once, when the delivery is, and never
// again.
type body struct {
	ID         string          `json:"id"`
	EventID    *string         `json:"eventId"`
	Type       string          `json:"type"`
	APIVersion string          `json:"apiVersion"`
	BusinessID string          `json:"businessId"`
	Created    int64           `json:"created"`
	Data       json.RawMessage `json:"data"`
}

// newDelivery makes the delivery of an event to a webhook, due at once. An event
// without an id is a test, and its data says so.
func (s *Service) newDelivery(id string, to Subscriber, e events.Event, now time.Time) (Delivery, error) {
	version := to.PinnedVersion
	if version == "" {
		version = s.cfg.CurrentVersion
	}
	definition, ok := s.cfg.Catalog.Lookup(e.Type)
	if !ok {
		return Delivery{}, fmt.Errorf("event %s: %q is not in the catalog", e.ID, e.Type)
	}
	data, err := definition.DataIn(version, e.Data)
	if err == nil && e.ID == "" {
		data, err = markTest(data)
	}
	if err != nil {
		return Delivery{}, err
	}
	content := body{ID: id, Type: e.Type, APIVersion: version, BusinessID: e.BusinessID, Created: e.CreatedAt.Unix(), Data: data}
	if e.ID != "" {
		content.EventID = &e.ID
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // data stays as it was recorded
	if err := encoder.Encode(content); err != nil {
		return Delivery{}, fmt.Errorf("body of event %s: %w", e.ID, err)
	}
	return Delivery{
		ID: id, WebhookID: to.WebhookID, AppID: to.AppID, EventID: e.ID, EventType: e.Type, BusinessID: e.BusinessID,
		Body: bytes.TrimSuffix(text.Bytes(), []byte("\n")), Status: Queued, NextAttemptAt: now, CreatedAt: now,
	}, nil
}
