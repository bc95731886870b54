package events

import (
	"encoding/json"
	"time"
)

// The events of an app's own life. Their audience is the app.
const (
	AppInstalled     = "app.installed"
	AppUninstalled   = "app.uninstalled"
	AppScopesUpdated = "app.scopes_updated"
	BusinessRedact   = "business.redact"
	AppDataUpdated   = "app_data.updated"
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
	// is 0 until the event is numbered: see [Store].
	Number int64
}
