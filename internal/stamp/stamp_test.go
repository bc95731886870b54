package stamp_test

import (
	"encoding/json"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/internal/stamp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTime(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("CET", 3600)
	for want, at := range map[string]time.Time{
		`"2026-09-01T12:00:00.000Z"`: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC),
		`"2026-09-01T12:00:00.100Z"`: time.Date(2026, 9, 1, 13, 0, 0, 100_000_000, zone),
		`"2026-09-01T12:00:00.012Z"`: time.Date(2026, 9, 1, 12, 0, 0, 12_999_999, time.UTC),
	} {
		got, err := json.Marshal(struct{ A, B any }{stamp.Of(at), stamp.OrNull(at)})
		if both := `{"A":` + want + `,"B":` + want + `}`; err != nil || string(got) != both {
			t.Errorf("%s, %v; want %s", got, err, both)
		}
		var back stamp.Time
		if err := json.Unmarshal([]byte(want), &back); err != nil || !back.Equal(at.Truncate(time.Millisecond)) {
			t.Errorf("%s is read as %v, %v", want, back, err)
		}
	}
	if got := stamp.OrNull(time.Time{}); got != nil {
		t.Errorf("no time is %v", got)
	}
}
