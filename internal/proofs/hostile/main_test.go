//go:build linux

package hostile_test

import (
	"testing"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }
