package pages

import (
	"math"
	"strconv"

	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/webhooks"
)

// healthBadge returns a badge with the health of a webhook, for lists and titles.
func healthBadge(hook webhooks.Webhook) look.Badge {
	switch {
	case !hook.Health.DisabledAt.IsZero() && !hook.Enabled:
		return look.Badge{Kind: "bad", Text: "Disabled for failing"}
	case !hook.Enabled:
		return look.Badge{Text: "Off"}
	case hook.Health.IsFailing():
		return look.Badge{Kind: "bad", Text: "Failing"}
	}
	return look.Badge{Kind: "ok", Text: "On"}
}

// failureRate returns a rate from 0 to 1. Only no failure at all is 0%, and only all failures
// are 100%.
func failureRate(rate float64) string {
	n := math.Round(100 * rate)
	if rate > 0 && rate < 1 {
		n = min(max(n, 1), 99)
	}
	return strconv.Itoa(int(n)) + "%"
}

// lastError is why the newest delivery that was sent in vain did not arrive; empty if there is
// none. Deliveries that were given up unsent, because the webhook is off, explain nothing.
func (v *visit) lastError() (string, error) {
	ctx, ref := v.r.Context(), v.ref()
	page, err := v.cfg.Console.Deliveries(ctx, v.by, ref, webhooks.DeliveryQuery{Statuses: []webhooks.Status{webhooks.Failed, webhooks.Retrying}})
	if err != nil {
		return "", err
	}
	for _, d := range page.Deliveries {
		if d.Attempts == 0 {
			continue
		}
		ref.DeliveryID = d.ID
		_, attempts, err := v.cfg.Console.Delivery(ctx, v.by, ref)
		if err != nil || len(attempts) == 0 {
			return "", err
		}
		return attempts[len(attempts)-1].Error, nil
	}
	return "", nil
}

// unwell returns how many of the webhooks fail, or were disabled for failing.
func unwell(hooks []webhooks.Webhook) int {
	n := 0
	for _, hook := range hooks {
		if healthBadge(hook).Kind == "bad" {
			n++
		}
	}
	return n
}
