package checks_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)#]+)`)

// What guides point to is there.
func TestLinksOfGuides(t *testing.T) {
	t.Parallel()
	var guides []string
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		guides = append(guides, found...)
	}
	for _, guide := range guides {
		text, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(guide), found[1])); err != nil {
				t.Errorf("%s: %v", guide, err)
			}
		}
	}
}
