package webhooks

import (
	"fmt"
	"slices"
	"time"
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

// MaxAttempts returns how often a delivery is tried before it has failed.
func (s *Service) MaxAttempts() int { return len(s.cfg.RetryDelays) + 1 }

// MaxWebhooks is how many webhooks an app may have.
func (s *Service) MaxWebhooks() int { return s.cfg.MaxWebhooks }

// RetryDelays returns the pauses between the attempts of a delivery. The slice is the
// caller's.
func (s *Service) RetryDelays() []time.Duration { return slices.Clone(s.cfg.RetryDelays) }

// next is the delivery's state machine: what an attempt that ended at now makes of
// a delivery that is queued or retrying.
func (d Delivery) next(succeeded bool, now time.Time, delays []time.Duration) Delivery { //nolint:revive // the outcome, not a switch
	d.Attempts++
	d.NextAttemptAt = time.Time{}
	switch {
	case succeeded:
		d.Status = Delivered
	case d.Attempts > len(delays):
		d.Status = Failed
	default:
		d.Status = Retrying
		d.NextAttemptAt = now.Add(delays[d.Attempts-1])
	}
	return d
}
