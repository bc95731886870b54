// Command fuzz runs every fuzz target of the module, one after the other, and leaves a
// line for the table of make prove. It ends with 1 when a target fails.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/proof"
)

func main() {
	long := flag.String("time", "30s", "how `long` each target runs, or how often: 2000x")
	only := flag.String("only", "", "a `regexp` of folder and name: only targets that match")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	var targets []target
	if err == nil {
		targets, err = find(os.DirFS("."))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	targets = slices.DeleteFunc(targets, func(t target) bool { return !pattern.MatchString(t.String()) })
	line := run(targets, *long, os.Stdout)
	fmt.Printf("%d executions of %s, %d failed\n", line.Tried, line.Note, line.Violations)
	if file := os.Getenv(proof.FileVar); file != "" {
		if err := line.Append(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	if line.Violations > 0 || len(targets) == 0 {
		os.Exit(1)
	}
}

// target is a function that fuzzes.
type target struct{ dir, name string }

func (t target) String() string { return "./" + t.dir + " " + t.name }

var isTarget = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(`)

// find looks into all test files of the module. Folders with a go.mod are others.
func find(module fs.FS) ([]target, error) {
	var found []target
	err := fs.WalkDir(module, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, none := fs.Stat(module, filepath.Join(path, "go.mod")); entry.IsDir() && path != "." && none == nil {
			return fs.SkipDir
		}
		if match, _ := filepath.Match("*_test.go", entry.Name()); !match {
			return nil
		}
		text, err := fs.ReadFile(module, path)
		for _, name := range isTarget.FindAllSubmatch(text, -1) {
			found = append(found, target{filepath.Dir(path), string(name[1])})
		}
		return err
	})
	return found, err
}

// run fuzzes one target after the other and sums up.
func run(targets []target, long string, out io.Writer) proof.Line {
	began := time.Now()
	line := proof.Line{What: "Fuzzing", Unit: "executions", Note: fmt.Sprintf("%d targets, %v each", len(targets), long)}
	built := builds{}
	defer built.remove()
	for _, t := range targets {
		fmt.Fprintln(out, t)
		executions, err := built.fuzz(t, long, out)
		line.Tried += executions
		if err != nil {
			fmt.Fprintf(out, "%s: %v\n", t, err)
			line.Violations++
		}
	}
	line.Seconds = time.Since(began).Seconds()
	return line
}

const (
	module = "github.com/partnerkit/partnerkit"
	// minimizing an input that is interesting may take 1 s: by default it may take a minute,
	// in which nothing else is tried.
	minimizing = "1s"
)

// builds are the programs with the tests of folders, by folder. Other than with go test -fuzz
// only our own packages are instrumented for coverage: what an input reaches in SQLite is
// of no interest, and rebuilding SQLite takes minutes.
type builds map[string]string

func (b builds) of(dir string, out io.Writer) (program string, err error) {
	if program, ok := b[dir]; ok {
		return program, nil
	}
	into, err := os.MkdirTemp("", "partnerkit-fuzz-")
	if err != nil {
		return "", err
	}
	program = filepath.Join(into, "fuzz.test")
	b[dir] = program
	return program, command(out, ".", "go", "test", "-c", "-gcflags="+module+"/...=-d=libfuzzer", "-o", program, "./"+dir).Run()
}

func (b builds) remove() {
	for _, program := range b {
		_ = os.RemoveAll(filepath.Dir(program))
	}
}

func (b builds) fuzz(t target, long string, out io.Writer) (executions int, err error) {
	program, err := b.of(t.dir, out)
	if err != nil {
		return 0, fmt.Errorf("build: %w", err)
	}
	cache, err := exec.CommandContext(context.Background(), "go", "env", "GOCACHE").Output()
	if err != nil {
		return 0, err
	}
	var said bytes.Buffer
	err = command(io.MultiWriter(out, &said), t.dir, program, "-test.run", "^$", "-test.fuzz", "^"+t.name+"$", "-test.fuzztime", long,
		"-test.fuzzminimizetime", minimizing, "-test.fuzzcachedir", filepath.Join(strings.TrimSpace(string(cache)), "fuzz", module, t.dir)).Run()
	if isOver(said.Bytes()) {
		err = nil
	}
	isGuided := !bytes.Contains(said.Bytes(), []byte("without coverage guidance"))
	executions = counted(&said)
	switch {
	case err == nil && executions == 0:
		err = errors.New("nothing was tried")
	case err == nil && !isGuided:
		err = errors.New("it does not see what inputs reach")
	}
	return executions, err
}

var over = regexp.MustCompile(`(?m)^--- FAIL: .*\n    context deadline exceeded$`)

// isOver reports whether a target failed only because its time was over. That is a bug of go
// test, which Go 1.27 fixes: https://go.dev/issue/75804.
func isOver(said []byte) bool {
	return over.Match(said) && !bytes.Contains(said, []byte("Failing input"))
}

func command(out io.Writer, dir, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(context.Background(), name, args...) //nolint:gosec // our own targets
	c.Dir, c.Stdout, c.Stderr = dir, out, out
	return c
}

var execs = regexp.MustCompile(`execs: (\d+)`)

// counted returns the last number of executions that go test tells.
func counted(said io.Reader) (n int) {
	for in := bufio.NewScanner(said); in.Scan(); {
		if match := execs.FindSubmatch(in.Bytes()); match != nil {
			n, _ = strconv.Atoi(string(match[1]))
		}
	}
	return n
}
