package mutants_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// activeVar names the mutant that a test binary is to run; empty: none.
const activeVar = "PARTNERKIT_MUTANT"

// Building a test binary for each mutant would take most of the time. So one binary holds
// all mutants of a package. It contains the original and the mutated versions of each
// function that a mutant changes, and replaces the function with one that calls the
// selected version. A mutant may change only functions, and not their signatures.

// switched returns the text of a file that contains all mutants of that file, selected by
// name.
func switched(file string, all []mutant) (string, error) {
	source, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return "", err
	}
	text := string(source)
	original, err := functions(text)
	if err != nil {
		return "", err
	}
	versions := map[string][]string{} // by function, the names of the mutants that change it
	var added strings.Builder
	for _, m := range all {
		changed, err := m.functions(text, original)
		if err != nil {
			return "", fmt.Errorf("%s: %w", m.name, err)
		}
		for _, name := range slices.Sorted(maps.Keys(changed)) {
			versions[name] = append(versions[name], m.name)
			added.WriteString(changed[name].renamed(len(versions[name])) + "\n\n")
		}
	}
	for name, mutants := range versions {
		f := original[name]
		added.WriteString(f.dispatcher(mutants) + "\n\n")
		text = strings.Replace(text, f.text, f.renamed(0), 1)
	}
	return text + "\n" + added.String(), nil
}

// functions are those that the mutant changes, as they are then.
func (m mutant) functions(source string, original map[string]function) (map[string]function, error) {
	text, err := m.mutated()
	if err != nil {
		return nil, err
	}
	changed, err := functions(text)
	if err != nil {
		return nil, err
	}
	for name, f := range changed {
		was, ok := original[name]
		switch {
		case ok && f.text == was.text:
			delete(changed, name)
		case !ok || f.isGeneric || f.results != was.results || !slices.Equal(f.parameters, was.parameters):
			return nil, errors.New("it changes more than the inside of functions")
		default:
			text = strings.Replace(text, f.text, was.text, 1)
		}
	}
	if text != source {
		return nil, errors.New("it changes more than the inside of functions")
	}
	return changed, nil
}

// function is one of a file, as text.
type function struct {
	text                  string // from func on
	name                  string
	nameAt                int    // in text
	receiver              string // its type; empty for none
	parameters            []string
	results               string
	isVariadic, isGeneric bool
}

// functions finds the functions of a file by receiver and name.
func functions(source string) (map[string]function, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	cut := func(from, to token.Pos) string { return source[fset.Position(from).Offset:fset.Position(to).Offset] }
	found := map[string]function{}
	for _, decl := range parsed.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		f := function{
			text: cut(d.Pos(), d.End()), name: d.Name.Name, nameAt: int(d.Name.Pos() - d.Pos()), isGeneric: d.Type.TypeParams != nil,
		}
		if d.Recv != nil {
			kind := d.Recv.List[0].Type
			f.receiver = cut(kind.Pos(), kind.End())
			f.isGeneric = strings.Contains(f.receiver, "[")
		}
		for _, field := range d.Type.Params.List {
			kind := cut(field.Type.Pos(), field.Type.End())
			for range max(1, len(field.Names)) {
				f.parameters = append(f.parameters, kind)
			}
			f.isVariadic = strings.HasPrefix(kind, "...")
		}
		if d.Type.Results != nil {
			f.results = cut(d.Type.Results.Pos(), d.Type.Results.End())
		}
		found[f.receiver+"."+f.name] = f
	}
	return found, nil
}

// renamed is the function under the name of its nth version; the original is 0.
func (f function) renamed(version int) string {
	return f.text[:f.nameAt] + f.version(version) + f.text[f.nameAt+len(f.name):]
}

func (f function) version(n int) string { return "mutant" + strconv.Itoa(n) + f.name }

// dispatcher returns the function that replaces the original.
func (f function) dispatcher(mutants []string) string {
	var b strings.Builder
	on := ""
	b.WriteString("func ")
	if f.receiver != "" {
		b.WriteString("(mutantOf " + f.receiver + ") ")
		on = "mutantOf."
	}
	b.WriteString(f.name + "(")
	args := make([]string, len(f.parameters))
	for i, kind := range f.parameters {
		args[i] = "p" + strconv.Itoa(i)
		b.WriteString(args[i] + " " + kind + ", ")
	}
	b.WriteString(") " + f.results + " {\n")
	call := "(" + strings.Join(args, ", ")
	if f.isVariadic {
		call += "..."
	}
	call += ")"
	if f.results != "" {
		on = "return " + on
	}
	b.WriteString("\tswitch activeMutant {\n")
	for i, name := range mutants {
		b.WriteString("\tcase " + strconv.Quote(name) + ":\n\t\t" + on + f.version(i+1) + call + "\n")
	}
	b.WriteString("\tdefault:\n\t\t" + on + f.version(0) + call + "\n\t}\n}")
	return b.String()
}
