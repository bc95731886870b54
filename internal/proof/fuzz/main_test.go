package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Every function that takes a *testing.F is found, as Go's own parser sees them.
func TestFindAll(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", `{{.Dir}}{{range .TestGoFiles}} {{.}}{{end}}{{range .XTestGoFiles}} {{.}}{{end}}`, "github.com/partnerkit/partnerkit/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	found, err := find(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for line := range strings.Lines(string(out)) {
		dir, files, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, file := range strings.Fields(files) {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, declared := range parsed.Decls {
				f, ok := declared.(*ast.FuncDecl)
				if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") {
					continue
				}
				all++
				in, err := filepath.Rel(root, dir)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Contains(found, target{in, f.Name.Name}) {
					t.Errorf("%s in %s is not found", f.Name.Name, in)
				}
			}
		}
	}
	if len(found) != all || all < 40 {
		t.Errorf("%d targets are found, and there are %d", len(found), all)
	}
}

// A module in a folder is another one, and what fails is counted.
func TestFindInModule(t *testing.T) {
	t.Parallel()
	got, err := find(fstest.MapFS{
		"a/b_test.go":     {Data: []byte("package a\n\nfunc FuzzA(f *testing.F) {}\nfunc FuzzB(f *testing.F) {}\n// func FuzzC(\n")},
		"a/c.go":          {Data: []byte("func FuzzD(f *testing.F) {}\n")},
		"other/go.mod":    {Data: []byte("module other\n")},
		"other/a_test.go": {Data: []byte("func FuzzE(f *testing.F) {}\n")},
	})
	if err != nil || !slices.Equal(got, []target{{"a", "FuzzA"}, {"a", "FuzzB"}}) {
		t.Errorf("%v, %v", got, err)
	}
	if line := run([]target{{"nowhere", "FuzzA"}}, "1s", io.Discard); line.Violations != 1 || line.Tried != 0 {
		t.Errorf("%+v", line)
	}
}

func TestCounted(t *testing.T) {
	t.Parallel()
	said := "fuzz: elapsed: 0s, gathering baseline coverage: 0/5 completed\nfuzz: elapsed: 3s, execs: 12 (4/sec), new interesting: 0 (total: 5)\nfuzz: elapsed: 5s, execs: 345 (9/sec), new interesting: 1 (total: 6)\nPASS\n"
	if n := counted(strings.NewReader(said)); n != 345 {
		t.Errorf("%d", n)
	}
}

func TestIsOver(t *testing.T) {
	t.Parallel()
	const began = "fuzz: elapsed: 10s, execs: 93897 (9621/sec), new interesting: 11 (total: 20)\n--- FAIL: FuzzOptions (10.02s)\n"
	for said, want := range map[string]bool{
		began + "    context deadline exceeded\nFAIL\n":                                                        true,
		began + "    context deadline exceeded\n    Failing input written to testdata/fuzz/x\nFAIL\n":          false,
		began + "    --- FAIL: FuzzOptions (0.00s)\n        main_test.go:1: context deadline exceeded\nFAIL\n": false,
		"PASS\n": false,
	} {
		if got := isOver([]byte(said)); got != want {
			t.Errorf("%t for %s", got, said)
		}
	}
}
