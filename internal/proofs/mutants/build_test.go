package mutants_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// pkg is a package whose tests kill mutants.
type pkg struct {
	path    string
	mutants []mutant
	binary  func() (string, error) // of its tests, built once
}

var packageClause = regexp.MustCompile(`(?m)^package \w+`)

// bench sorts mutants by the packages of their tests. Nothing is built yet.
func bench(t *testing.T, all []mutant) map[string]*pkg {
	packages := map[string]*pkg{}
	for _, m := range all {
		p := packages[m.pkg]
		if p == nil {
			p = &pkg{path: m.pkg}
			p.binary = sync.OnceValues(func() (string, error) { return p.build(t) })
			packages[m.pkg] = p
		}
		p.mutants = append(p.mutants, m)
	}
	return packages
}

// build makes the binary that holds all mutants of the package.
func (p *pkg) build(t *testing.T) (binary string, err error) {
	byFile := map[string][]mutant{}
	for _, m := range p.mutants {
		byFile[m.file] = append(byFile[m.file], m)
	}
	files := map[string]string{}
	for file, mutants := range byFile {
		text, err := switched(file, mutants)
		if err != nil {
			return "", err
		}
		files[file] = text
		files[filepath.Join(filepath.Dir(file), "active_mutant.go")] = packageClause.FindString(text) +
			"\n\nimport \"os\"\n\nvar activeMutant = os.Getenv(\"" + activeVar + "\")\n"
	}
	return compile(t, p.path, files)
}

// compile builds the tests of a package with other texts for some files.
func compile(t *testing.T, pkg string, files map[string]string) (binary string, err error) {
	dir := t.TempDir()
	replace := map[string]string{}
	for file, text := range files {
		path, err := filepath.Abs(filepath.Join(root, file))
		if err != nil {
			return "", err
		}
		replace[path] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	described := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(described, overlay, 0o600); err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "mutated.test")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", described, "-o", binary, pkg)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s does not build: %w\n%s", pkg, err, out)
	}
	return binary, nil
}
