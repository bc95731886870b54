package pages

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
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
	ctx := v.r.Context()
	page, err := v.cfg.Console.Deliveries(ctx, v.by, v.app.ID, v.webhookID(), partner.DeliveryQuery{Statuses: []partner.DeliveryStatus{partner.DeliveryFailed, partner.DeliveryRetrying}})
	if err != nil {
		return "", err
	}
	for _, d := range page.Deliveries {
		if d.Attempts == 0 {
			continue
		}
		_, attempts, err := v.cfg.Console.Delivery(ctx, v.by, v.app.ID, d.WebhookID, d.ID)
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

// failure is a cause for which deliveries of a webhook have not arrived.
type failure struct {
	Badge  look.Badge
	Text   string // what happened
	Advice string // what to do
	Count  string
	Path   string // of one such delivery, below the prefix
}

// failures groups the newest deliveries that failed or are retried by their cause, most frequent
// first. Deliveries that were given up unsent, because the webhook is off, have none.
func (v *visit) failures(hook partner.Webhook) ([]failure, error) {
	page, err := v.cfg.Console.Deliveries(v.r.Context(), v.by, v.app.ID, v.webhookID(), partner.DeliveryQuery{Statuses: []partner.DeliveryStatus{partner.DeliveryFailed, partner.DeliveryRetrying}})
	if err != nil {
		return nil, err
	}
	counts, newest := map[string]int{}, map[string]partner.Delivery{}
	var texts []string
	for _, d := range page.Deliveries {
		text := inWords(d.ResponseCode, d.LastError)
		if d.Attempts == 0 || text == "" {
			continue
		}
		if counts[text]++; counts[text] == 1 {
			texts, newest[text] = append(texts, text), d
		}
	}
	slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	var all []failure
	for _, text := range texts[:min(maxCauses, len(texts))] {
		d := newest[text]
		count := strconv.Itoa(counts[text])
		if page.Next != "" {
			count += "+"
		}
		badge := look.Badge{Kind: "bad", Text: "No response"}
		if d.ResponseCode != 0 {
			badge.Text = strconv.Itoa(d.ResponseCode)
		}
		all = append(all, failure{badge, text, remedy(d.ResponseCode, d.LastError), count, v.webhookPath(hook.ID, "deliveries", d.ID)})
	}
	return all, nil
}

// inWords says how an attempt has failed; empty: it has not.
func inWords(code int, problem string) string {
	if code == 0 || problem == "" || code/100 == 2 {
		return problem
	}
	text := "Your server answered " + strconv.Itoa(code)
	if name := http.StatusText(code); name != "" {
		text += " " + name
	}
	return text
}

// remedy is what to do about an attempt that has failed.
func remedy(code int, problem string) string {
	switch {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return "Check your signature verification: it needs the secret of this webhook and the body to the byte. Send a test afterwards."
	case code == http.StatusNotFound:
		return "Nothing serves the path of the URL. Correct the URL of the webhook, or the route of your server."
	case code == http.StatusGone:
		return "Your server says that the endpoint is gone for good. Correct the URL, or delete the webhook."
	case code == http.StatusMethodNotAllowed:
		return "Accept POST at this URL."
	case code == http.StatusBadRequest, code == http.StatusUnsupportedMediaType, code == http.StatusUnprocessableEntity:
		return "Your server rejects the body. Compare what it expects with the body of the delivery, and ignore members that it does not know."
	case code == http.StatusRequestEntityTooLarge:
		return "Raise the limit of your server for the size of a body."
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		return "Your server has too much to do. Put what arrives into a queue, respond at once, and work on it afterwards."
	case code >= 300 && code < 400:
		return "Redirects are not followed. Enter the address that your server redirects to."
	case code >= 500:
		return "Your server failed. Its log has the reason: look for the id of the delivery, which is in the header X-Webhook-Id."
	case code != 0:
		return "Respond with a 2xx status as soon as a delivery is stored."
	case problem == "timed out":
		return "Respond within 10 seconds: put what arrives into a queue, respond at once, and work on it afterwards."
	case problem == "TLS handshake failed":
		return "Check the certificate of your server: it must be valid for this host and include the intermediate certificates."
	case problem == "invalid response":
		return "What came back was no HTTP response, or none until the end. Check that your server, or a proxy before it, speaks HTTPS on this port."
	}
	return "Check that the host name leads to your server and that its port can be reached from the Internet."
}

// attemptCharts are how the attempts of the last day have ended, and how long they took.
func (v *visit) attemptCharts() ([]look.Chart, error) {
	hours, err := v.cfg.Console.AttemptHours(v.r.Context(), v.by, v.app.ID, v.webhookID())
	if err != nil {
		return nil, err
	}
	all := make([]site.Period, 0, len(hours))
	for _, hour := range hours {
		all = append(all, site.Period{Start: hour.Start, Counts: callstore.Counts{Calls: hour.Succeeded + hour.Failed, Errors: hour.Failed}, Latency: hour.Latency})
	}
	results := site.AttemptChart("Attempts by hour", "Hour", site.HourPoints(all), all)
	if results.IsBare() {
		return nil, nil
	}
	return []look.Chart{results, site.LatencyChart("Latency by hour", "Hour", site.HourPoints(all), all)}, nil
}
