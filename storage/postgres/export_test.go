package postgres

import "time"

// SetSilence sets how long Listen waits before it asks whether the server is there.
func SetSilence(d time.Duration) (restore func()) {
	before := silence
	silence = d
	return func() { silence = before }
}
