package apierror_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/apierror"
)

// ERR-01: every call of New in the module gives as many values as its code
// takes. Production code is read, not run, so a path that no test reaches counts
// too.
func TestCallsGiveTheRightNumberOfValues_ERR01(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	codes := codesByName(t, files)
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
		if err != nil || !strings.Contains(string(source), "apierror.New(") {
			return err
		}
		file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
		if err != nil {
			return nil // the compiler says it better
		}
		checkCalls(t, files, file, codes)
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
		var _ = apierror.New(apierror.SlugTaken)
		var _ = apierror.New(apierror.SlugTaken, "a")
		var _ = apierror.New(apierror.SlugTaken, values...)`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := wrongCalls(files, file, codesByName(t, files)); len(got) != 1 || !strings.Contains(got[0], "a.go:2") {
		t.Errorf("found %q", got)
	}
}

func checkCalls(t *testing.T, files *token.FileSet, file *ast.File, codes map[string]apierror.Code) {
	t.Helper()
	for _, wrong := range wrongCalls(files, file, codes) {
		t.Error(wrong)
	}
}

func wrongCalls(files *token.FileSet, file *ast.File, codes map[string]apierror.Code) []string {
	var wrong []string
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || call.Ellipsis.IsValid() || len(call.Args) == 0 || selected(call.Fun) != "New" {
			return true
		}
		entry, known := apierror.Lookup(codes[selected(call.Args[0])])
		if given := len(call.Args) - 1; known && given != entry.Params {
			wrong = append(wrong, files.Position(call.Pos()).String()+": "+string(entry.Code)+
				" takes "+strconv.Itoa(entry.Params)+" values, got "+strconv.Itoa(given))
		}
		return true
	})
	return wrong
}

// selected returns Name of an expression apierror.Name.
func selected(expr ast.Expr) string {
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if of, ok := selector.X.(*ast.Ident); !ok || of.Name != "apierror" {
		return ""
	}
	return selector.Sel.Name
}

// codesByName reads the constants of code.go.
func codesByName(t *testing.T, files *token.FileSet) map[string]apierror.Code {
	t.Helper()
	file, err := parser.ParseFile(files, "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]apierror.Code{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes[spec.Names[0].Name] = apierror.Code(code)
		return true
	})
	if len(codes) != len(apierror.Entries()) {
		t.Errorf("%d constants, %d entries in the table", len(codes), len(apierror.Entries()))
	}
	return codes
}
