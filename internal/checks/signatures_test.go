package checks_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit"
)

// publicFiles calls each for every Go file, tests aside, of a package that a host can
// import.
func publicFiles(t *testing.T, each func(path string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "internal" || name == "examples" || name == "testdata" || strings.HasPrefix(name, ".") && path != ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		each(path, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// internals are the names under which a file imports internal packages.
func internals(file *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, one := range file.Imports {
		path, err := strconv.Unquote(one.Path.Value)
		if err != nil || !strings.Contains(path, "/internal/") {
			continue
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if one.Name != nil {
			name = one.Name.Name
		}
		names[name] = true
	}
	return names
}

// exposed are the types that an exported declaration shows: those of parameters, results,
// exported fields and methods.
func exposed(decl ast.Decl) (types []ast.Expr) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if !decl.Name.IsExported() || decl.Recv != nil && !isExported(decl.Recv.List[0].Type) {
			return nil
		}
		return []ast.Expr{decl.Type}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					types = append(types, exportedParts(spec.Type)...)
				}
			case *ast.ValueSpec:
				if spec.Type != nil && spec.Names[0].IsExported() {
					types = append(types, spec.Type)
				}
			}
		}
	}
	return types
}

func isExported(receiver ast.Expr) bool {
	switch receiver := receiver.(type) {
	case *ast.StarExpr:
		return isExported(receiver.X)
	case *ast.IndexExpr:
		return isExported(receiver.X)
	case *ast.Ident:
		return receiver.IsExported()
	}
	return true
}

func exportedParts(of ast.Expr) (types []ast.Expr) {
	var fields *ast.FieldList
	switch of := of.(type) {
	case *ast.StructType:
		fields = of.Fields
	case *ast.InterfaceType:
		fields = of.Methods
	default:
		return []ast.Expr{of}
	}
	for _, field := range fields.List {
		if len(field.Names) == 0 || field.Names[0].IsExported() {
			types = append(types, field.Type)
		}
	}
	return types
}

// Exported signatures mention exported types only.
func TestNoInternalTypesInSignatures(t *testing.T) {
	t.Parallel()
	publicFiles(t, func(path string, file *ast.File) {
		names := internals(file)
		for _, decl := range file.Decls {
			for _, shown := range exposed(decl) {
				ast.Inspect(shown, func(n ast.Node) bool {
					if selector, ok := n.(*ast.SelectorExpr); ok {
						if from, ok := selector.X.(*ast.Ident); ok && names[from.Name] {
							t.Errorf("%s shows the internal type %s.%s", path, from.Name, selector.Sel.Name)
						}
					}
					return true
				})
			}
		}
	})
}

// No setting exists in partnerkit.Config and in a nested struct of it again.
func TestEachSettingOnce(t *testing.T) {
	t.Parallel()
	config := reflect.TypeFor[partnerkit.Config]()
	for i := range config.NumField() {
		nested := config.Field(i)
		if nested.Type.Kind() != reflect.Struct || !strings.HasSuffix(nested.Type.Name(), "Options") && !strings.HasSuffix(nested.Type.Name(), "Config") {
			continue
		}
		for j := range nested.Type.NumField() {
			inner := nested.Type.Field(j)
			if outer, ok := config.FieldByName(inner.Name); ok && outer.Type == inner.Type {
				t.Errorf("Config.%s.%s means the same as Config.%s", nested.Name, inner.Name, outer.Name)
			}
		}
	}
}
