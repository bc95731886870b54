package checks_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var namedTest = regexp.MustCompile("`([a-z0-9/]+)\\.(Test\\w+)`")

// Every test that docs/standards.md names exists. A standard that is held names one, and one
// that is not gives the reason.
func TestStandards(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/standards.md")
	if err != nil {
		t.Fatal(err)
	}
	tested, standards := map[string]*testFiles{}, 0
	for _, line := range strings.Split(string(text), "\n") {
		for _, name := range namedTest.FindAllStringSubmatch(line, -1) {
			if tested[name[1]] == nil {
				tested[name[1]] = readTests(t, name[1])
			}
			if !tested[name[1]].functions[name[2]] {
				t.Errorf("there is no %s in %s", name[2], name[1])
			}
		}
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| standard |") {
			continue
		}
		standards++
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case len(cells) != 4:
			t.Errorf("%d cells, want standard, held, tests, not: %s", len(cells), line)
		case cells[1] == "–" && cells[3] == "–":
			t.Errorf("no reason why it is not held: %s", line)
		case cells[1] != "–" && cells[2] != "as there" && !namedTest.MatchString(cells[2]):
			t.Errorf("no test of what is held: %s", line)
		}
	}
	if standards < 30 {
		t.Errorf("%d standards, want at least 30", standards)
	}
}
