package ratelimit_test

import (
	"testing"

	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/ratelimit/limittest"
)

// TestMemory proves LOCK-01, LOCK-02, LOCK-04, LOCK-05, LIM-06 and the first
// half of LIM-07 in memory.
func TestMemory(t *testing.T) {
	t.Parallel()
	limittest.Run(t, func(t *testing.T) ratelimit.Limiter { return newMemory(t, 0) })
}

func newMemory(t testing.TB, maxBytes int64) *ratelimit.Memory {
	t.Helper()
	m, err := ratelimit.NewMemory(ratelimit.MemoryConfig{MaxBytes: maxBytes})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestNewMemoryRefuses(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{-1, 1, 1<<20 - 1} {
		if _, err := ratelimit.NewMemory(ratelimit.MemoryConfig{MaxBytes: size}); err == nil {
			t.Errorf("MaxBytes %d: no error", size)
		}
	}
}
