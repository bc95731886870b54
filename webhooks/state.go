package webhooks

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/partner"
)

// maxRetries bounds Config.RetryDelays.
const maxRetries = 20

func defaultRetryDelays() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour}
}

func checkRetryDelays(delays []time.Duration, retention time.Duration) error {
	if len(delays) > maxRetries {
		return fmt.Errorf("webhooks: Config.RetryDelays has %d delays; at most %d are allowed", len(delays), maxRetries)
	}
	total := time.Duration(0)
	for i, delay := range delays {
		if delay < time.Second || delay > retention {
			return fmt.Errorf("webhooks: Config.RetryDelays[%d] is %v; it must be at least one second and less than Config.Retention", i, delay)
		}
		total += delay
	}
	if total >= retention {
		return fmt.Errorf("webhooks: Config.RetryDelays add up to %v; that must be less than Config.Retention, which is %v", total, retention)
	}
	return nil
}

// next is the delivery's state machine: what an attempt that ended at now makes of
// a delivery that is queued or retrying.
func next(d partner.Delivery, succeeded bool, now time.Time, delays []time.Duration) partner.Delivery { //nolint:revive // the outcome, not a switch
	d.Attempts++
	d.NextAttemptAt = time.Time{}
	switch {
	case succeeded:
		d.Status = partner.DeliveryDelivered
	case d.Attempts > len(delays):
		d.Status = partner.DeliveryFailed
	default:
		d.Status = partner.DeliveryRetrying
		d.NextAttemptAt = now.Add(delays[d.Attempts-1])
	}
	return d
}

// gone is why a webhook was switched off whose endpoint does not want it any more.
const gone = "the endpoint answered with status 410"

// heed returns what the endpoint's response makes of a delivery after an attempt, and why the
// webhook is switched off; empty: it is not.
func heed(d partner.Delivery, status int, retryAfter string, now time.Time) (next partner.Delivery, switchOff string) {
	switch {
	case status == http.StatusGone:
		d.Status, d.NextAttemptAt = partner.DeliveryFailed, time.Time{}
		return d, gone
	case d.Status == partner.DeliveryRetrying && (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable):
		delay := d.NextAttemptAt.Sub(now)
		d.NextAttemptAt = now.Add(min(max(delay, readRetryAfter(retryAfter, now)), 2*delay))
	}
	return d, ""
}

// readRetryAfter reads a Retry-After header (RFC 9110 10.2.3): seconds or a date. It returns 0 for
// what is neither.
func readRetryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return at.Sub(now)
	}
	return 0
}
