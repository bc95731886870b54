//go:build linux

package crash_test

import (
	"testing"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// besideOthers runs a test in parallel with others, except in a proof, which limits the
// time to the first response. By hand the test is skipped.
func besideOthers(t *testing.T) {
	t.Helper()
	testenv.Long(t)
	if !testenv.Proving() {
		t.Parallel()
	}
}

func TestMain(m *testing.M) { servertest.Main(m) }
