//go:build linux

package crash_test

import (
	"testing"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// besideOthers runs a test in parallel with others, except in a proof, which limits the
// time to the first response.
func besideOthers(t *testing.T) {
	if !testenv.Proving() {
		t.Parallel()
	}
}

func TestMain(m *testing.M) { servertest.Main(m) }
