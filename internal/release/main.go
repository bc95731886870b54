// Command release builds what a release contains.
//
//	release licenses                        writes a table of all modules and their licenses to standard output
//	release build VERSION FOLDER PLATFORM…  builds the reference server for each platform (linux/amd64), archives it
//	                                        with its licenses and bill of materials, and writes checksums
//
// Run it in the root of the repository.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, args []string) error {
	switch {
	case len(args) == 1 && args[0] == "licenses":
		modules, err := allModules(".", "examples/mcp", "examples/recipes", "internal/e2e", "internal/benchmarks")
		if err != nil {
			return err
		}
		return writeLicenses(out, modules)
	case len(args) >= 4 && args[0] == "build":
		commit, err := checkCommit(args[1])
		if err != nil {
			return err
		}
		modules, err := allModules(".")
		if err != nil {
			return err
		}
		r := release{
			version: args[1], commit: commit, modules: modules, folder: args[2],
			flags: []string{"-trimpath", "-buildvcs=false"}, env: []string{"GOFLAGS=", "CGO_ENABLED=0"},
		}
		return r.build(out, args[3:])
	}
	return fmt.Errorf("usage: release licenses | release build VERSION FOLDER PLATFORM...")
}
