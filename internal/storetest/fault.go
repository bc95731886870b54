package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
)

// maxFaults ends a search for the last statement that never ends.
const maxFaults = 200

// Faulty is an operation that [EveryFault] runs with a fault at each of its statements.
type Faulty struct {
	// Prepare creates the rows that the operation needs, before each run. It may be nil.
	Prepare func(t *testing.T)
	// Act is the operation. It is called with the fault, and again without it if it failed.
	Act func(ctx context.Context) error
	// Check compares the rows with what must be there, after the operation failed and after
	// it succeeded.
	Check func(t *testing.T, happened bool)
}

// EveryFault runs the operation with a fault at its first statement, then with one at
// its second and so on; then with a lost response to each of its commits. After any
// fault the operation has happened wholly or not at all. After a failed statement it has
// not happened, and the same call works afterwards.
func EveryFault(t *testing.T, tap *testdb.Tap, f Faulty) {
	t.Helper()
	for _, fault := range []testdb.Fault{testdb.FaultError, testdb.FaultCancel, testdb.FaultLostCommit} {
		for n := 1; f.trial(t, tap, fault, n); n++ {
			if n == maxFaults {
				t.Fatalf("%s: still struck at place %d", fault, n)
			}
		}
	}
}

// trial reports whether the fault struck: the operation has that many places.
func (f Faulty) trial(t *testing.T, tap *testdb.Tap, fault testdb.Fault, n int) bool {
	t.Helper()
	tap.Reset()
	if f.Prepare != nil {
		f.Prepare(t)
	}
	ctx, cancel := tap.Cancellable(t.Context())
	defer cancel()
	tap.Arm(fault, n)
	err := f.Act(ctx)
	struck := tap.Struck()
	tap.Reset()
	switch {
	case !struck:
		if err != nil {
			t.Fatalf("%s at %d did not strike, yet the act failed: %v", fault, n, err)
		}
		f.Check(t, true)
	case fault == testdb.FaultError:
		if !errors.Is(err, testdb.ErrInjected) {
			t.Fatalf("error at statement %d: the act returned %v", n, err)
		}
		f.Check(t, false)
		if err := f.Act(t.Context()); err != nil {
			t.Fatalf("again, after an error at statement %d: %v", n, err)
		}
		f.Check(t, true)
	case fault == testdb.FaultCancel:
		// An operation that has begun may finish, as long as its response is true.
		f.Check(t, err == nil)
		if err != nil {
			if err := f.Act(t.Context()); err != nil {
				t.Fatalf("again, after it was cancelled at statement %d: %v", n, err)
			}
			f.Check(t, true)
		}
	case fault == testdb.FaultLostCommit:
		if !errors.Is(err, testdb.ErrInjected) {
			t.Fatalf("lost answer to commit %d: the act returned %v", n, err)
		}
		f.Check(t, true)
	}
	return struck
}
