package checks_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	// A fault has a number of its own, an issue, a section of a standard, or the
	// version of a project that has it.
	faultNumber = regexp.MustCompile(`^(CVE-\d{4}-\d{4,}|GHSA(-[23456789cfghjmpqrvwx]{4}){3}|[\w./-]+#\d+|(RFC|OWASP|[A-Za-z][\w./-]*) [\w.:-]+( \d[\d.]*)?)$`)
	// A test is named with its package, and perhaps its case.
	faultTest = regexp.MustCompile("^`([a-z0-9/]+)\\.(Test\\w+)(?:/([^`]+))?`$")
	mutantOf  = regexp.MustCompile(`(?m)^advisory: *(.+)$`)
)

// Every line of the known faults is complete, is listed once and names tests that exist.
// The list contains every advisory that a mutant names.
func TestKnownFaults(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n## Known faults\n")
	if !found {
		t.Fatal("docs/security.md has no known faults")
	}
	tested := map[string]*testFiles{}
	numbers := map[string]bool{}
	for _, line := range strings.Split(table, "\n") {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| number |") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 4 {
			t.Errorf("%d cells, want number, where, fault and test: %s", len(cells), line)
			continue
		}
		number := cells[0]
		if !faultNumber.MatchString(number) || cells[1] == "" || len(cells[2]) < 10 {
			t.Errorf("not a number, where and fault: %s", line)
		}
		if numbers[number] {
			t.Errorf("%s stands there twice", number)
		}
		numbers[number] = true
		for _, name := range strings.Split(cells[3], ", `") {
			name = "`" + strings.TrimPrefix(name, "`")
			parts := faultTest.FindStringSubmatch(name)
			if parts == nil {
				t.Errorf("%s: %s is not package.Test or package.Test/case", number, name)
				continue
			}
			files := tested[parts[1]]
			if files == nil {
				files = readTests(t, parts[1])
				tested[parts[1]] = files
			}
			if !files.functions[parts[2]] {
				t.Errorf("%s: there is no %s in %s", number, parts[2], parts[1])
			}
			if parts[3] != "" && !files.texts[parts[3]] {
				t.Errorf("%s: no test of %s has a case %q", number, parts[1], parts[3])
			}
		}
	}
	if len(numbers) < 60 {
		t.Errorf("%d faults, want at least 60", len(numbers))
	}
	mutants, err := filepath.Glob("internal/proofs/mutants/*.mutant")
	if err != nil {
		t.Fatal(err)
	}
	for _, mutant := range mutants {
		text, err := os.ReadFile(mutant)
		if err != nil {
			t.Fatal(err)
		}
		if of := mutantOf.FindSubmatch(text); of != nil && !numbers[strings.TrimSpace(string(of[1]))] {
			t.Errorf("%s: docs/security.md has no %s", mutant, of[1])
		}
	}
}

// testFiles is what the tests of a package have: functions, and texts that may name
// a case.
type testFiles struct{ functions, texts map[string]bool }

func readTests(t *testing.T, folder string) *testFiles {
	t.Helper()
	paths, err := filepath.Glob(folder + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(folder, "storage/") { // their cases stand in the suite for all databases
		suite, err := filepath.Glob("internal/storetest/*.go")
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, suite...)
	}
	all := &testFiles{map[string]bool{}, map[string]bool{}}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				all.functions[n.Name.Name] = true
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil {
					all.texts[text] = true
				}
			}
			return true
		})
	}
	return all
}
