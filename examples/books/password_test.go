package books_test

import (
	"runtime"
	"testing"

	"github.com/partnerkit/partnerkit/examples/books"
)

// CVE-2026-22746: an account that there is not costs a guesser as much as one that
// there is. The cost is the memory of a hash, which needs no clock to see. The test is
// not parallel, for it measures the heap.
func TestNobodyCostsAsMuch(t *testing.T) {
	known := books.HashPassword("right")
	for name, hash := range map[string]string{"known": known, "nobody": ""} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ok, err := books.IsPassword(hash, "wrong")
		runtime.ReadMemStats(&after)
		if ok || err != nil {
			t.Errorf("%s: %t, %v", name, ok, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took < books.ArgonMemory<<10 {
			t.Errorf("%s: %d bytes, less than a hash takes", name, took)
		}
	}
	if ok, err := books.IsPassword(known, "right"); !ok || err != nil {
		t.Errorf("the right password: %t, %v", ok, err)
	}
	if ok, _ := books.IsPassword("", ""); ok {
		t.Error("an unknown user has the empty password")
	}
}
