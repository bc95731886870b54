package id_test

import (
	"testing"

	"github.com/partnerkit/partnerkit/internal/id"
)

// FuzzValid: one id has one spelling, sorts within its time, and names one kind.
func FuzzValid(f *testing.F) {
	good := id.New(id.Event, start)
	for _, seed := range []string{good, good[:len(good)-1] + "1", "evt_", "", "evt_" + good[4:20] + "\x00" + good[21:], id.New(id.App, start), id.Floor(id.Event, start)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := id.Time(id.Event, text)
		if ok != id.Valid(id.Event, text) {
			t.Fatalf("%q is valid and has no time, or the other way round", text)
		}
		if !ok {
			return
		}
		if id.Valid(id.App, text) || len(text) != len(good) || text < id.Floor(id.Event, at) {
			t.Fatalf("%q of %v", text, at)
		}
		for i := range text[4:] {
			if c := text[4+i]; (c < '0' || c > '9') && (c < 'a' || c > 'v') {
				t.Fatalf("%q has %q", text, c)
			}
		}
	})
}
