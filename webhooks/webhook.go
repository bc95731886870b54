package webhooks

import (
	"time"

	"github.com/partnerkit/partnerkit/events"
)

// Webhook is an endpoint of an app, and what it wants to hear of.
type Webhook struct {
	ID        string // whk_…
	AppID     string
	URL       string
	Events    []string // names of the catalog, in the order that they were given
	Enabled   bool
	CreatedAt time.Time
	UpdatedAt time.Time

	Secrets
}

// Secrets are what a webhook's deliveries are signed with, sealed by the host's
// keyring.
type Secrets struct {
	Secret []byte
	// Previous signs too until PreviousExpiresAt; nil: there is none.
	Previous          []byte
	PreviousExpiresAt time.Time
}

// Standing is all that decides whether a delivery may be sent, as it stands right
// now.
type Standing struct {
	IsDeleted   bool // the webhook
	IsEnabled   bool
	IsAppUsable bool // neither suspended nor deactivated
	Viewer      events.Viewer
}
