package id_test

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
)

var start = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

func TestNewHasOneForm(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^evt_[0-9a-v]{26}$`)
	for _, now := range []time.Time{time.Unix(0, 0), start, time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)} {
		got := id.New(id.Event, now)
		if !form.MatchString(got) {
			t.Errorf("New at %v = %q, want the form %v", now, got, form)
		}
		if !id.Valid(id.Event, got) {
			t.Errorf("Valid refuses %q", got)
		}
	}
}

// Moving the clock moves the ids: the time is the caller's, not the system's.
func TestNewSortsByTheCallersTime(t *testing.T) {
	t.Parallel()
	var made []string
	for _, step := range []time.Duration{
		0, 250 * time.Nanosecond, 500 * time.Nanosecond, time.Microsecond, 999_999 * time.Nanosecond,
		time.Millisecond, time.Second, time.Hour, 24 * time.Hour, 40 * 365 * 24 * time.Hour,
	} {
		made = append(made, id.New(id.Delivery, start.Add(step)))
	}
	if !slices.IsSorted(made) {
		t.Errorf("not sorted:\n%s", strings.Join(made, "\n"))
	}
	if id.New(id.Delivery, time.Unix(1, 0)) >= made[0] {
		t.Error("an id from 1970 sorts after one from 2026")
	}
}

func TestResolution(t *testing.T) {
	t.Parallel()
	var made []string
	for i := range 10_000 { // over the turn of a millisecond too
		made = append(made, id.New(id.Event, start.Add(17+time.Duration(i)*id.Resolution)))
	}
	if !slices.IsSorted(made) {
		t.Error("ids of instants that far apart are not sorted")
	}
}

func TestNewIsUnique(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 2000
	made := make([][]string, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for range each {
				made[w] = append(made[w], id.New(id.Invoice, start)) // one instant for all
			}
		})
	}
	wg.Wait()
	all := slices.Concat(made...)
	slices.Sort(all)
	if distinct := len(slices.Compact(all)); distinct != workers*each {
		t.Errorf("%d distinct ids of %d", distinct, workers*each)
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	good := id.New(id.App, start)
	spare := []byte(good)
	spare[len(spare)-1]++ // the last character carries three bits; its spare ones are zero
	for name, s := range map[string]string{
		"empty":        "",
		"prefix alone": "app_",
		"other kind":   id.New(id.Event, start),
		"longer":       good + "0",
		"shorter":      good[:len(good)-1],
		"upper case":   strings.ToUpper(good),
		"alphabet":     good[:10] + "z" + good[11:],
		"newline":      good[:10] + "\n" + good[11:],
		"NUL":          good[:10] + "\x00" + good[11:],
		"spare bits":   string(spare),
		"no version":   "app_" + strings.Repeat("0", 26),
	} {
		if id.Valid(id.App, s) {
			t.Errorf("%s: Valid takes %q", name, s)
		}
	}
	if !id.Valid(id.App, good) {
		t.Errorf("Valid refuses %q", good)
	}
}

func TestFloor(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 890_123_456, time.UTC)
	floor := id.Floor(id.Token, at)
	for _, test := range []struct {
		made   time.Time
		before bool
	}{{at.Add(-time.Hour), true}, {at.Add(-time.Microsecond), true}, {at, false}, {at.Add(time.Microsecond), false}} {
		if got := id.New(id.Token, test.made) < floor; got != test.before {
			t.Errorf("made %v before the floor: %v", test.made.Sub(at), got)
		}
	}
}
