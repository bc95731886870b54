package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is a module that packages of ours are built from.
type module struct {
	Path, Version, Dir string
	License            string
	UsedBy             []string // directories of our modules
}

// compatible lists the licenses of modules that users of the library build, which go
// together with ours, Apache-2.0.
var compatible = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

// testOnly lists what else is fine in modules that only our tests and benchmarks build.
var testOnly = []string{"MPL-2.0", "Unlicense"}

// allModules returns the modules that the packages and tests in each directory import,
// sorted by path. Test dependencies of third-party packages are not built and not listed.
func allModules(dirs ...string) ([]*module, error) {
	byName := map[string]*module{}
	for _, dir := range dirs {
		found, err := modulesOf(dir)
		if err != nil {
			return nil, fmt.Errorf("modules of %s: %w", dir, err)
		}
		for _, m := range found {
			known := byName[m.Path+"@"+m.Version]
			if known == nil {
				if m.License, err = licenseOf(m.Dir); err != nil {
					return nil, fmt.Errorf("license of %s: %w", m.Path, err)
				}
				known = m
				byName[m.Path+"@"+m.Version] = m
			}
			known.UsedBy = append(known.UsedBy, dir)
		}
	}
	modules := make([]*module, 0, len(byName))
	for _, m := range byName {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b *module) int {
		return strings.Compare(a.Path+"@"+a.Version, b.Path+"@"+b.Version)
	})
	return modules, nil
}

// modulesOf asks the go command.
func modulesOf(dir string) ([]*module, error) {
	const format = `{{with .Module}}{{if not .Main}}{"Path":"{{.Path}}","Version":"{{.Version}}","Dir":"{{.Dir}}"}{{end}}{{end}}`
	cmd := exec.CommandContext(context.Background(), "go", "list", "-deps", "-test", "-f", format, "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var modules []*module
	seen := map[string]bool{}
	for in := json.NewDecoder(bytes.NewReader(text)); ; {
		m := &module{}
		if err := in.Decode(m); errors.Is(err, io.EOF) {
			return modules, nil
		} else if err != nil {
			return nil, err
		}
		isOurs := m.Path == "github.com/partnerkit/partnerkit" || strings.HasPrefix(m.Path, "github.com/partnerkit/partnerkit/")
		if !seen[m.Path] && !isOurs {
			seen[m.Path] = true
			modules = append(modules, m)
		}
	}
}

// phrases identify a license by sentences that only it has. The first match counts.
var phrases = []struct{ id, phrase string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MPL-2.0", "mozilla public license, version 2.0"},
	{"Unlicense", "free and unencumbered software released into the public domain"},
	{"GPL", "gnu general public license"},
	{"LGPL", "gnu lesser general public license"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"BSD-3-Clause", "endorse or promote products"},
	{"BSD-2-Clause", "redistributions in binary form must reproduce the above copyright"},
}

var spaces = regexp.MustCompile(`\s+`)

// licenseOf identifies a module's license.
func licenseOf(dir string) (string, error) {
	text, err := licenseText(dir)
	if err != nil {
		return "", err
	}
	return identify(text)
}

// licenseText reads a module's license file.
func licenseText(dir string) (string, error) {
	for _, name := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		return string(text), err
	}
	return "", errors.New("there is no license file")
}

// writeLicenseTexts writes the license of Go's library and of each module in full, which most
// of them require of whoever passes a program on.
func writeLicenseTexts(out io.Writer, modules []*module) error {
	root, err := command("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	all := append([]*module{{Path: "Go and its standard library", Dir: strings.TrimSpace(root)}}, modules...)
	for _, m := range all {
		text, err := licenseText(m.Dir)
		if err != nil {
			return fmt.Errorf("license of %s: %w", m.Path, err)
		}
		title := strings.TrimSpace(m.Path + " " + m.Version)
		if _, err := fmt.Fprintf(out, "%s\n%s\n\n%s\n\n", title, strings.Repeat("=", len(title)), strings.TrimSpace(text)); err != nil {
			return err
		}
	}
	return nil
}

func identify(text string) (string, error) {
	text = spaces.ReplaceAllString(strings.ToLower(text), " ")
	for _, p := range phrases {
		if strings.Contains(text, p.phrase) {
			return p.id, nil
		}
	}
	return "", errors.New("the license is not a known one")
}

// writeLicenses writes a table in Markdown. It fails for a license that ours cannot be
// combined with.
func writeLicenses(out io.Writer, modules []*module) error {
	var text strings.Builder
	text.WriteString("# Licenses of dependencies\n\n" +
		"Written by `make licenses`. \"Used by\" names our modules: `.` is the library with its\n" +
		"tests and examples; the others are only built to run an example, tests or benchmarks.\n\n" +
		"| Module | Version | License | Used by |\n| --- | --- | --- | --- |\n")
	for _, m := range modules {
		if !m.isCompatible() {
			return fmt.Errorf("%s has the license %s, which is not compatible with ours", m.Path, m.License)
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", m.Path, m.Version, m.License, strings.Join(m.UsedBy, ", "))
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (m *module) isCompatible() bool {
	isShipped := slices.ContainsFunc(m.UsedBy, func(dir string) bool { return !strings.HasPrefix(dir, "internal/") })
	return slices.Contains(compatible, m.License) || !isShipped && slices.Contains(testOnly, m.License)
}
