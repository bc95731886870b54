package apierror_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/codes"
)

// ERR-01: every call of New in the module gives as many values as its code
// takes. Production code is read, not run, so a path that no test reaches counts
// too.
func TestCallsGiveTheRightNumberOfValues_ERR01(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	params := paramsByName(t, files)
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || len(entry.Name()) > 2 && strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(source), "codes.") {
			return err
		}
		file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
		if err != nil {
			return nil // the compiler says it better
		}
		for _, wrong := range wrongCalls(files, file, params) {
			t.Error(wrong)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The check above must be able to fail.
func TestCallCheckFindsAMistake(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "a.go", `package a
		var _ = codes.SlugTaken.New()
		var _ = codes.SlugTaken.New("a")
		var _ = codes.SlugTaken.New(values...)`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := wrongCalls(files, file, paramsByName(t, files)); len(got) != 1 || !strings.Contains(got[0], "a.go:2") {
		t.Errorf("found %q", got)
	}
}

func wrongCalls(files *token.FileSet, file *ast.File, params map[string]int) []string {
	var wrong []string
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || call.Ellipsis.IsValid() {
			return true
		}
		name, ok := strings.CutSuffix(dotted(call.Fun), ".New")
		if want, known := params[name]; ok && known && len(call.Args) != want {
			wrong = append(wrong, fmt.Sprintf("%s: %s takes %d values, got %d", files.Position(call.Pos()), name, want, len(call.Args)))
		}
		return true
	})
	return wrong
}

// dotted returns an expression such as codes.Name.New as text; empty for any other.
func dotted(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return dotted(e.X) + "." + e.Sel.Name
	}
	return ""
}

// paramsByName reads how many values each error of package codes takes.
func paramsByName(t *testing.T, files *token.FileSet) map[string]int {
	t.Helper()
	file, err := parser.ParseFile(files, "../internal/codes/codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	params := map[string]int{"apierror.InsufficientScope": 1}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) == 0 {
			return true
		}
		n := 0
		ast.Inspect(spec.Values[0], func(part ast.Node) bool {
			if literal, ok := part.(*ast.BasicLit); ok {
				n += strings.Count(literal.Value, "{p")
			}
			return true
		})
		params["codes."+spec.Names[0].Name] = n
		return true
	})
	params["codes.InsufficientScope"] = 1 // it is apierror's
	if len(params) != len(codes.All())+1 {
		t.Errorf("%d declarations, %d codes", len(params), len(codes.All()))
	}
	return params
}
