package inbox

import (
	"encoding/json"
	"errors"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// maxID bounds what is kept as an id.
const maxID = 255

// Event is an event as the Events API shows it. It is the same whether a
// webhook brought it or it was fetched.
type Event struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	APIVersion string          `json:"apiVersion"`
	BusinessID string          `json:"businessId"` // "test" for a test
	Created    int64           `json:"created"`    // Unix seconds
	Data       json.RawMessage `json:"data"`
}

func (e Event) validate() error {
	switch {
	case e.ID == "" || len(e.ID) > maxID:
		return errors.New("the event has no id, or too long a one")
	case e.Type == "":
		return errors.New("the event has no type")
	}
	return nil
}

// parseDelivery reads a body that was verified. A test has no event: it is known
// by its delivery, whose id stays the same when it is sent again.
func parseDelivery(body []byte) (Event, error) {
	var d signature.Delivery
	if err := json.Unmarshal(body, &d); err != nil {
		return Event{}, errors.New("the body is not a delivery")
	}
	e := Event{ID: d.EventID, Type: d.Type, APIVersion: d.APIVersion, BusinessID: d.BusinessID, Created: d.Created, Data: d.Data}
	if d.IsTest() {
		e.ID = d.ID
	}
	return e, e.validate()
}
