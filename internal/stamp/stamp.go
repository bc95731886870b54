// Package stamp writes times into JSON: ISO 8601 in UTC, always with three digits of
// milliseconds, which is as precisely as stores keep them.
package stamp

import "time"

// Time is a time in JSON.
type Time struct{ time.Time }

// Of returns t in UTC, without anything smaller than a millisecond.
func Of(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// OrNull returns null for the zero time.
func OrNull(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	of := Of(t)
	return &of
}

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
}
