package consent_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The guide lists every code of an error page.
func TestErrorCodesAreListed(t *testing.T) {
	t.Parallel()
	var codes []string
	for _, path := range []string{"errors.go", "../../pages/view.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Type == nil || len(spec.Values) != 1 {
				return true
			}
			literal, isText := spec.Values[0].(*ast.BasicLit)
			if isText && literal.Kind == token.STRING {
				code, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Error(err)
				}
				codes = append(codes, code)
			}
			return true
		})
	}
	slices.Sort(codes)
	guide, err := os.ReadFile("../../../docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(guide), "The codes are ")
	list, _, _ := strings.Cut(after, ". ")
	var listed []string
	for _, match := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(list, -1) {
		listed = append(listed, match[1])
	}
	if diff := cmp.Diff(codes, listed); diff != "" {
		t.Errorf("docs/embedding.md (-declared +listed):\n%s", diff)
	}
}
