package checks_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every Go block of a guide is compiled: the text before the block names a file, and the
// lines of the block are consecutive lines of that file.
func TestSnippetsAreCompiled(t *testing.T) {
	t.Parallel()
	guides, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, guide := range append(guides, "README.md") {
		text, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range goBlock.FindAllStringSubmatch(string(text), -1) {
			checked++
			if block[1] == "" {
				t.Errorf("%s: no comment says where this is compiled:\n%s", guide, block[2])
				continue
			}
			source, err := os.ReadFile(block[1])
			if err != nil {
				t.Errorf("%s: %v", guide, err)
				continue
			}
			if !strings.Contains(flat(string(source)), flat(block[2])) {
				t.Errorf("%s: %s does not have\n%s", guide, block[1], block[2])
			}
		}
	}
	if checked == 0 {
		t.Error("there is no Go in the guides")
	}
}

// goBlock finds blocks of Go, with the file of the comment before them.
var goBlock = regexp.MustCompile("(?s)(?:<!-- from ([^ ]+) -->\n)?```go\n(.*?)```")

// flat forgets how far lines are indented.
func flat(source string) string {
	lines := strings.Split(strings.TrimSpace(source), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return "\n" + strings.Join(lines, "\n") + "\n"
}
