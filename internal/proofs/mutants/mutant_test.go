package mutants_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the module's folder.
const root = "../../.."

// mutant is a file of this folder.
type mutant struct {
	name     string
	rule     string
	advisory string // empty: none is known
	breaks   string
	file     string // from root
	pkg      string // of the test, from root
	test     string // with its sub-tests, as go test prints it
	edits    []edit
}

type edit struct{ before, after string }

// load reads all mutants, by name.
func load(t *testing.T) []mutant {
	t.Helper()
	paths, err := filepath.Glob("*.mutant")
	if err != nil {
		t.Fatal(err)
	}
	all := make([]mutant, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if all[i], err = parse(string(text)); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[i].name = strings.TrimSuffix(path, ".mutant")
	}
	return all
}

func parse(text string) (mutant, error) {
	var m mutant
	head, rest, _ := strings.Cut(text, "--- old\n")
	fields := map[string]*string{
		"rule": &m.rule, "advisory": &m.advisory, "breaks": &m.breaks, "file": &m.file, "package": &m.pkg, "test": &m.test,
	}
	for line := range strings.Lines(head) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		field := fields[name]
		if field == nil || *field != "" || value == "" {
			return m, fmt.Errorf("the line %q", line)
		}
		*field = value
	}
	if m.rule == "" || m.breaks == "" || m.file == "" || m.pkg == "" || m.test == "" {
		return m, errors.New("a line is missing")
	}
	for pair := range strings.SplitSeq(rest, "\n--- old\n") {
		before, after, ok := strings.Cut(pair, "\n+++ new\n")
		if !ok || before == "" {
			return m, errors.New("old without new")
		}
		m.edits = append(m.edits, edit{before, strings.TrimSuffix(after, "\n")})
	}
	return m, nil
}

// mutated is the text of the file with the rule broken.
func (m mutant) mutated() (string, error) {
	source, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	text := string(source)
	for _, e := range m.edits {
		if n := strings.Count(text, e.before); n != 1 {
			return "", fmt.Errorf("%s has the old text %d times:\n%s", m.file, n, e.before)
		}
		text = strings.Replace(text, e.before, e.after, 1)
	}
	if text == string(source) {
		return "", errors.New("nothing is changed")
	}
	return text, nil
}

// topTest is the test without its sub-tests.
func (m mutant) topTest() string {
	top, _, _ := strings.Cut(m.test, "/")
	return top
}
