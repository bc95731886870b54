package ratelimit

import (
	"fmt"
	"time"
)

// Windows are further windows of a limit: Windows{PerDay(5_000)}. Unused places are zero. The
// lengths of all windows of a limit differ.
type Windows [2]Limit

// PerMinute returns a limit of count requests in each minute.
func PerMinute(count int) Limit { return Limit{Count: count, Window: time.Minute} }

// PerHour returns a limit of count requests in each hour.
func PerHour(count int) Limit { return Limit{Count: count, Window: time.Hour} }

// PerDay returns a limit of count requests in each 24 hours. They begin at a time of the day
// that depends on the key; see the package comment.
func PerDay(count int) Limit { return Limit{Count: count, Window: 24 * time.Hour} }

// validate checks the windows beside the first one.
func (w *Windows) validate(first Limit) error {
	for i := range w {
		if w[i] == (Limit{}) {
			continue
		}
		if err := w[i].validate(); err != nil {
			return err
		}
		if w[i].Window == first.Window || i > 0 && w[i].Window == w[0].Window {
			return fmt.Errorf("%w: two windows of %v", ErrInvalid, w[i].Window)
		}
	}
	return nil
}
