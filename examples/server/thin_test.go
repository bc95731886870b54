package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/sandbox"
)

// SAND-03: the reference server is a sandbox over examples/books: what is here is a main,
// wiring and demo data.
func TestReferenceServerIsThin_SAND03(t *testing.T) {
	t.Parallel()
	var _ sandbox.Program = newProgram()
	lines := 0
	for _, pattern := range []string{"*.go", "fixtures/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range file.Imports {
				for _, own := range []string{"net", "flag", "os/signal", "storage/sqlite", "storage/postgres", "ratelimit"} {
					if path := strings.Trim(one.Path.Value, `"`); name != "platform.go" && (path == own || strings.HasSuffix(path, "partnerkit/"+own)) {
						t.Errorf("%s imports %s, which is the sandbox's part", name, path)
					}
				}
			}
		}
	}
	if lines > 400 {
		t.Errorf("%d lines, want at most 400", lines)
	}
}
