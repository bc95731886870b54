package webhooks

import "time"

// Share is share, for tests.
var Share = share

// Next is next, for tests.
func (d Delivery) Next(succeeded bool, now time.Time) Delivery { return d.next(succeeded, now) }
