package webhooks

import (
	"time"

	"github.com/partnerkit/partnerkit/events"
)

// Webhook is an endpoint of an app and the events to which it subscribes.
type Webhook struct {
	ID        string // whk_…
	AppID     string
	URL       string
	Events    []string // names of the catalog, in the order that they were given
	Enabled   bool
	CreatedAt time.Time
	UpdatedAt time.Time
	// Version grows with each change of the webhook. A new webhook has 1.
	Version int64
	Health  Health

	Secrets
}

// Health is how the deliveries of a webhook have fared.
type Health struct {
	// FailingSince is the time of the first failed attempt after the last one that arrived; zero:
	// the last attempt arrived, or there was none.
	FailingSince time.Time
	// FailureRate is the part of the deliveries of the last 24 hours that have failed or are
	// being retried, from 0 to 1. Deliveries that are queued do not count. Of more than
	// [RatedDeliveries] the newest count. Only [Service.Get] and [Service.List] fill it in.
	FailureRate float64
	// DisabledAt is the time when the webhook was switched off for failing, and DisabledReason gives
	// why; zero: it was not. See Options.DisableAfter.
	DisabledAt     time.Time
	DisabledReason string
}

// IsFailing reports whether the last attempt failed.
func (h Health) IsFailing() bool { return !h.FailingSince.IsZero() }

// RatedDeliveries is how many deliveries Health.FailureRate is taken over at most.
const RatedDeliveries = 500

// Secrets are the secrets that sign a webhook's deliveries, sealed by the host's
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
	IsFailing   bool // the webhook: see Health.FailingSince
	Viewer      events.Viewer
}
