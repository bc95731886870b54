package partner

import "time"

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
	Health  WebhookHealth
	// UnverifiedSince is when the webhook was created or its URL changed, while its endpoint has not
	// answered a challenge since then; zero: the webhook counts as verified. See
	// VerifyEndpoints in webhooks.Options.
	UnverifiedSince time.Time
	// ChallengeError is why the last challenge of an unverified webhook failed; empty: none has.
	ChallengeError string

	Secrets
}

// WebhookHealth is how the attempts of a webhook have ended. Those of tests count too; deliveries
// that were not sent do not count. A webhook that is switched on again begins with the zero
// WebhookHealth.
type WebhookHealth struct {
	// FailingSince is the time of the first failed attempt after the last successful one,
	// while the webhook is failing: its newest attempt has failed, and none has succeeded in
	// the hour before it. Zero: it is not failing.
	FailingSince time.Time
	// IsDegraded reports that in the last hour some attempts have failed and others have
	// succeeded. Only Get and List of webhooks.Service fill in this field and the next two.
	IsDegraded bool
	// Attempts is how many attempts there were in the last 24 hours, and Failures how many of
	// them failed. Attempts are counted by the minute: of a minute in which the 24 hours
	// began all count or none.
	Attempts, Failures int
	// DisabledAt is the time when the webhook was switched off for failing, and DisabledReason gives
	// why; zero: it was not. See DisableAfter in webhooks.Options.
	DisabledAt     time.Time
	DisabledReason string
}

// IsFailing reports whether the webhook is failing; see FailingSince.
func (h WebhookHealth) IsFailing() bool { return !h.FailingSince.IsZero() }

// FailureRate returns the part of the attempts of the last 24 hours that failed, from 0 to 1;
// false: there were no attempts.
func (h WebhookHealth) FailureRate() (float64, bool) {
	if h.Attempts == 0 {
		return 0, false
	}
	return float64(h.Failures) / float64(h.Attempts), true
}

// FailingAfter is how long a failed attempt must come after the last successful one for its
// webhook to be failing.
const FailingAfter = time.Hour

// Secrets are the secrets that sign a webhook's deliveries, sealed by the host's
// keyring.
type Secrets struct {
	Secret []byte
	// Previous signs too until PreviousExpiresAt; nil: there is none.
	Previous          []byte
	PreviousExpiresAt time.Time
}
