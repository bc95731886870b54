package racetest_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// withOption adds an option to a URL.
func withOption(url, option string) string {
	if strings.Contains(url, "?") {
		return url + "&" + option
	}
	return url + "?" + option
}
