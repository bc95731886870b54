package signature

import "encoding/json"

// Delivery is the body of a webhook, for encoding/json to read after it was
// verified.
type Delivery struct {
	ID         string          `json:"id"`         // stays the same when it is sent again
	EventID    string          `json:"eventId"`    // the event's in the Events API; empty (null) for a test
	Type       string          `json:"type"`       // such as invoice.paid
	APIVersion string          `json:"apiVersion"` // whose shape Data has
	BusinessID string          `json:"businessId"` // "test" for a test
	Created    int64           `json:"created"`    // Unix seconds
	Data       json.RawMessage `json:"data"`       // an object; its shape depends on Type
}

// IsTest reports whether the delivery was fired from the console.
func (d Delivery) IsTest() bool { return d.EventID == "" }
