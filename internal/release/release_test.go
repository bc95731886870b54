package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/partnerkit/partnerkit/storage/sqlite" // compiled by go test before TestSBOM builds a program with it
)

// docs/licenses.md lists every module that the library and its tests import.
func TestLicensesAreListed(t *testing.T) {
	modules, err := allModules(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) == 0 {
		t.Fatal("found no modules")
	}
	text, err := os.ReadFile("docs/licenses.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		if !m.isCompatible() {
			t.Errorf("%s has the license %s", m.Path, m.License)
		}
		if row := "| " + m.Path + " | " + m.Version + " | " + m.License + " | ."; !strings.Contains(string(text), row) {
			t.Errorf("docs/licenses.md lacks %q; run make licenses", row)
		}
	}
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"Apache License\n   Version 2.0, January 2004", "Apache-2.0"},
		{"Permission is hereby granted, free of charge, to any person obtaining a copy\nof this", "MIT"},
		{"GNU GENERAL PUBLIC LICENSE", "GPL"},
		{"All rights reserved.", ""},
	} {
		got, err := identify(c.text)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("identify(%q) = %q, %v, want %q", c.text, got, err, c.want)
		}
	}
	for license, dirs := range map[string][]string{"GPL": {"internal/e2e"}, "MPL-2.0": {"internal/e2e", "."}} {
		if m := (&module{License: license, UsedBy: dirs}); m.isCompatible() {
			t.Errorf("%s is accepted in %v", license, dirs)
		}
	}
}

// The document of a program names its modules with version, license and checksum.
func TestSBOM(t *testing.T) {
	program := filepath.Join(t.TempDir(), "receiver")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./examples/embed").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var text strings.Builder
	if err := run(&text, []string{"sbom", program}); err != nil {
		t.Fatal(err)
	}
	var got sbom
	if err := json.Unmarshal([]byte(text.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != "CycloneDX" || got.SpecVersion != "1.6" || got.Metadata.Component.Name != "github.com/partnerkit/partnerkit" {
		t.Errorf("got %.300s", text.String())
	}
	if len(got.Components) < 3 || len(got.Dependencies[0].DependsOn) != len(got.Components) {
		t.Errorf("there are %d components, %d dependencies", len(got.Components), len(got.Dependencies[0].DependsOn))
	}
	for _, c := range got.Components {
		if c.Version == "" || len(c.Licenses) != 1 || c.Name != "std" && len(c.Sums) != 1 {
			t.Errorf("component %+v", c)
		}
	}
}
