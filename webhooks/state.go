package webhooks

import "time"

// retryDelays are the pauses after the first failure, the second and so on; after
// the last one of MaxAttempts there is none.
var retryDelays = [MaxAttempts - 1]time.Duration{
	time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour,
}

// next is the delivery's state machine: what an attempt that ended at now makes of
// a delivery that is queued or retrying.
func (d Delivery) next(succeeded bool, now time.Time) Delivery { //nolint:revive // the outcome, not a switch
	d.Attempts++
	d.NextAttemptAt = time.Time{}
	switch {
	case succeeded:
		d.Status = Delivered
	case d.Attempts >= MaxAttempts:
		d.Status = Failed
	default:
		d.Status = Retrying
		d.NextAttemptAt = now.Add(retryDelays[d.Attempts-1])
	}
	return d
}
