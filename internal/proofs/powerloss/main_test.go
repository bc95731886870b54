//go:build linux

package powerloss_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if !isChild() {
		goleak.VerifyTestMain(m)
	}
}
