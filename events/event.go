// Package events holds what happened in a business, as apps get to know of it.
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
}
