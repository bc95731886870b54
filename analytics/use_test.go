package analytics_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/analytics"
)

func (r *harness) wantUses(t *testing.T, want map[string]time.Time) {
	t.Helper()
	got, err := r.LastUses(t.Context(), "inst_1", "inst_2", "inst_3")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("last uses (-want +got):\n%s", diff)
	}
}

// The latest use counts, before it was written and afterwards, through a store that
// was down.
func TestLastUses(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	r.Use("inst_1", noon.Add(time.Minute))
	r.Use("inst_1", noon)
	r.Use("", noon)
	r.wantUses(t, map[string]time.Time{"inst_1": noon.Add(time.Minute)})
	r.flush(t)
	r.wantUses(t, map[string]time.Time{"inst_1": noon.Add(time.Minute)})

	r.down.Store(true)
	r.Use("inst_1", noon.Add(time.Hour))
	r.Use("inst_2", noon)
	if err := r.Flush(t.Context()); !errors.Is(err, errDown) {
		t.Fatalf("Flush = %v", err)
	}
	r.Use("inst_2", noon.Add(2*time.Hour))
	r.down.Store(false)
	want := map[string]time.Time{"inst_1": noon.Add(time.Hour), "inst_2": noon.Add(2 * time.Hour)}
	r.wantUses(t, want)
	r.flush(t)
	r.flush(t)
	r.wantUses(t, want)
}

// Uses are written a few at a time, so that one transaction never takes long.
func TestUsesAreWrittenInBatches(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	const all = 450
	for i := range all {
		r.Use(fmt.Sprintf("inst_%d", i), noon)
	}
	r.flush(t)
	r.wantUses(t, map[string]time.Time{"inst_1": noon, "inst_2": noon, "inst_3": noon})
	sum := 0
	for _, n := range r.uses {
		if sum += n; n > 200 {
			t.Errorf("a batch of %d uses", n)
		}
	}
	if sum != all {
		t.Errorf("%d uses were written, want %d", sum, all)
	}
}

// Memory is bounded: uses that do not fit are dropped, and those already held are kept
// up to date.
func TestUsesAreBounded(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{MaxBuckets: 2})
	for _, id := range []string{"inst_1", "inst_2", "inst_3"} {
		r.Use(id, noon)
	}
	r.Use("inst_1", noon.Add(time.Hour))
	r.wantUses(t, map[string]time.Time{"inst_1": noon.Add(time.Hour), "inst_2": noon})
}
