// Command release describes what a release contains.
//
//	release licenses       writes a table of all modules and their licenses to standard output
//	release sbom PROGRAM   writes a CycloneDX document of a built program to standard output
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
		modules, err := allModules(".", "examples/mcp", "internal/e2e", "internal/benchmarks")
		if err != nil {
			return err
		}
		return writeLicenses(out, modules)
	case len(args) == 2 && args[0] == "sbom":
		return writeSBOM(out, args[1])
	}
	return fmt.Errorf("usage: release licenses | release sbom PROGRAM")
}
