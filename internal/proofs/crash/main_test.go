//go:build linux

package crash_test

import (
	"testing"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// besideOthers runs a test beside others, but in a proof alone: there the time to a first
// answer has a bar.
func besideOthers(t *testing.T) {
	if !testenv.Proving() {
		t.Parallel()
	}
}

func TestMain(m *testing.M) { servertest.Main(m) }
