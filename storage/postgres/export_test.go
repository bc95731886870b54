package postgres

import "time"

// SetSilence sets how long Listen waits before it asks whether the server is there.
func SetSilence(d time.Duration) { silence = d }
