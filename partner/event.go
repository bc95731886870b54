package partner

import (
	"encoding/json"
	"time"
)

// Event is something that happened in a business. It is recorded in the
// transaction of what it tells about.
type Event struct {
	ID         string // evt_…, sorted by time
	Type       string
	BusinessID string
	AppID      string          // the only app that may see it; empty for the business's events
	Data       json.RawMessage // a JSON object
	CreatedAt  time.Time

	// Number is its place among the events of its business. A committed event
	// is 0 until the event is numbered: see the Store of events/eventstore.
	Number int64
}
