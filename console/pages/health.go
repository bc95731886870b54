package pages

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/partner"
)

// endpoint returns a URL without its scheme, as people say it.
func endpoint(address string) string {
	if _, after, ok := strings.Cut(address, "://"); ok {
		return after
	}
	return address
}

// healthBadge returns a badge with the health of a webhook, for lists and titles.
func healthBadge(hook partner.Webhook) look.Badge {
	switch {
	case !hook.Health.DisabledAt.IsZero() && !hook.Enabled:
		return look.Badge{Kind: "bad", Text: "Disabled for failing"}
	case !hook.Enabled:
		return look.Badge{Text: "Off"}
	case hook.Health.IsFailing():
		return look.Badge{Kind: "bad", Text: "Failing"}
	case hook.Health.IsDegraded:
		return look.Badge{Kind: "warn", Text: "Degraded"}
	}
	return look.Badge{Kind: "ok", Text: "Working"}
}

// failureRate returns which part of the attempts of the last 24 hours failed. Only no failure
// at all is 0%, and only all failures are 100%. It is empty if there were no attempts.
func failureRate(h partner.WebhookHealth) string {
	rate, ok := h.FailureRate()
	if !ok {
		return ""
	}
	n := math.Round(100 * rate)
	if rate > 0 && rate < 1 {
		n = min(max(n, 1), 99)
	}
	return strconv.Itoa(int(n)) + "%"
}

// attempts returns how many attempts there were in the last 24 hours, and which part failed.
func attempts(h partner.WebhookHealth) string {
	switch h.Attempts {
	case 0:
		return "no attempts"
	case 1:
		return "1 attempt, " + failureRate(h) + " failed"
	}
	return site.Grouped(int64(h.Attempts)) + " attempts, " + failureRate(h) + " failed"
}

// lastError is why the newest delivery that was sent in vain did not arrive; empty if there is
// none, or if its last attempt started before since. Deliveries that were given up unsent,
// because the webhook is off, explain nothing.
func (v *visit) lastError(since time.Time) (string, error) {
	ctx, ref := v.r.Context(), v.ref()
	page, err := v.cfg.Console.Deliveries(ctx, v.by, ref, partner.DeliveryQuery{Statuses: []partner.DeliveryStatus{partner.DeliveryFailed, partner.DeliveryRetrying}})
	if err != nil {
		return "", err
	}
	for _, d := range page.Deliveries {
		if d.Attempts == 0 {
			continue
		}
		ref.DeliveryID = d.ID
		_, attempts, err := v.cfg.Console.Delivery(ctx, v.by, ref)
		if err != nil || len(attempts) == 0 || attempts[len(attempts)-1].StartedAt.Before(since) {
			return "", err
		}
		last := attempts[len(attempts)-1]
		return inWords(last.ResponseCode, last.Error), nil
	}
	return "", nil
}

// unwell returns how many of the webhooks are failing or were disabled for failing, and how
// many others are degraded.
func unwell(hooks []partner.Webhook) (bad, degraded int) {
	for _, hook := range hooks {
		switch healthBadge(hook).Kind {
		case "bad":
			bad++
		case "warn":
			degraded++
		}
	}
	return bad, degraded
}
