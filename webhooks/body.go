package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// testBusiness stands in for the business in a test delivery.
const testBusiness = "test"

// newDelivery makes the delivery of an event to a webhook, due at once. An event
// without an id is a test, and its data says so.
func (s *Service) newDelivery(id string, to webhookstore.Subscriber, e partner.Event, now time.Time) (partner.Delivery, error) {
	version := to.PinnedVersion
	if version == "" {
		version = s.cfg.CurrentVersion
	}
	definition, ok := s.cfg.Catalog.Lookup(e.Type)
	if !ok {
		return partner.Delivery{}, fmt.Errorf("event %s: %q is not in the catalog", e.ID, e.Type)
	}
	data, err := definition.DataIn(version, e.Data)
	if err == nil && e.ID == "" {
		data, err = markTest(data)
	}
	if err != nil {
		return partner.Delivery{}, err
	}
	text, err := body(id, version, e, data)
	if err != nil {
		return partner.Delivery{}, fmt.Errorf("body of event %s: %w", e.ID, err)
	}
	return partner.Delivery{
		ID: id, WebhookID: to.WebhookID, AppID: to.AppID, EventID: e.ID, EventType: e.Type, BusinessID: e.BusinessID, Sequence: e.Number,
		Body: text, Status: partner.DeliveryQueued, NextAttemptAt: now, CreatedAt: now,
	}, nil
}

// body returns the body of a delivery. It is encoded once, when the delivery is planned.
// Data that is as it was recorded was checked then, and is taken as it is.
func body(id, version string, e partner.Event, data json.RawMessage) ([]byte, error) {
	if !isSame(data, e.Data) {
		var compact bytes.Buffer
		if err := json.Compact(&compact, data); err != nil {
			return nil, err
		}
		data = compact.Bytes()
	}
	b := make([]byte, 0, len(data)+bodyRoom+len(e.BusinessID))
	b = member(append(b, '{'), "id", id)
	if e.ID == "" {
		b = append(b, `"eventId":null,`...)
	} else {
		b = member(b, "eventId", e.ID)
	}
	b = member(b, "type", e.Type)
	b = member(b, "apiVersion", version)
	b = member(b, "businessId", e.BusinessID)
	b = strconv.AppendInt(append(b, `"created":`...), e.CreatedAt.Unix(), 10)
	b = append(append(b, `,"data":`...), data...)
	return append(b, '}'), nil
}

// bodyRoom is about what a body has beside its data and the business.
const bodyRoom = 256

func isSame(a, b json.RawMessage) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }

// member adds "name":"text", to an object. Only a text with characters that JSON writes
// in another way needs an encoder.
func member(b []byte, name, text string) []byte {
	b = append(append(append(b, '"'), name...), `":`...)
	plain := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) < 0
	if plain {
		return append(append(append(b, '"'), text...), `",`...)
	}
	quoted, err := apierror.EncodeJSON(text)
	if err != nil {
		panic(err) // a text always encodes
	}
	return append(append(b, quoted...), ',')
}
