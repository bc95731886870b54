// Command fuzz runs every fuzz target of the module, one after the other, and leaves a
// line for the table of make prove. It ends with 1 when a target fails.
package main

import (
	"bufio"
	"bytes"
	"context"
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
	for _, t := range targets {
		fmt.Fprintln(out, t)
		executions, err := t.fuzz(long, out)
		line.Tried += executions
		if err != nil {
			fmt.Fprintf(out, "%s: %v\n", t, err)
			line.Violations++
		}
	}
	line.Seconds = time.Since(began).Seconds()
	return line
}

// minimizing an input that is interesting may take 1 s: by default it may take a minute,
// in which nothing else is tried.
const minimizing = "1s"

func (t target) fuzz(long string, out io.Writer) (executions int, err error) {
	command := exec.CommandContext(context.Background(), "go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", long, "-fuzzminimizetime", minimizing, "./"+t.dir) //nolint:gosec // our own targets
	var said bytes.Buffer
	command.Stdout = io.MultiWriter(out, &said)
	command.Stderr = command.Stdout
	err = command.Run()
	executions = counted(&said)
	if err == nil && executions == 0 {
		err = fmt.Errorf("nothing was tried")
	}
	return executions, err
}

var execs = regexp.MustCompile(`execs: (\d+)`)

// counted is the last number of executions that go test tells.
func counted(said io.Reader) (n int) {
	for in := bufio.NewScanner(said); in.Scan(); {
		if match := execs.FindSubmatch(in.Bytes()); match != nil {
			n, _ = strconv.Atoi(string(match[1]))
		}
	}
	return n
}
