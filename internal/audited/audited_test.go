package audited_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/partnerkit/partnerkit/internal/audited"
)

// Known has every constant.
func TestKnown(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("audited.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, one := range audited.Known {
		listed[one.Action] = true
	}
	for _, constant := range regexp.MustCompile(`= "([a-z_.]+)"`).FindAllSubmatch(source, -1) {
		if !listed[string(constant[1])] {
			t.Errorf("%s is not listed", constant[1])
		}
	}
}
