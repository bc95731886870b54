package audit_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/audit"
)

// Each action is listed once, has words, and is in the guide for operators.
func TestActions(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../docs/operator.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[audit.Action]bool{}
	for action, words := range audit.Actions() {
		if row := fmt.Sprintf("| `%s` | %s |\n", action, words); words == "" || seen[action] || strings.Count(string(guide), row) != 1 {
			t.Errorf("%s (%s) is listed twice, or the guide does not have it once", action, words)
		}
		seen[action] = true
	}
	if !seen["app.suspended"] || len(seen) != strings.Count(string(guide[strings.LastIndex(string(guide), "\n## "):]), "| `") {
		t.Errorf("%d actions, and the guide has others", len(seen))
	}
}
