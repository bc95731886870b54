package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/partnerkit/partnerkit/storage/sqlite" // compiled by go test before TestBuild builds a program with it
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

// A release holds the program with its licenses and its bill of materials, the source, and
// checksums. internal/proofs/fresh builds one twice and compares the results.
func TestBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the reference server")
	}
	head, err := command("git", "rev-parse", "HEAD")
	if err != nil {
		t.Skip("not a clone: ", err)
	}
	modules, err := allModules(".")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "release")
	// Without the flags of a release, what other tests have compiled is used.
	r := release{version: "v0.1.0", commit: commit{strings.TrimSpace(head), time.Unix(1_000_000_000, 0).UTC()}, modules: modules, folder: folder}
	if err := r.build(io.Discard, []string{runtime.GOOS + "/" + runtime.GOARCH}); err != nil {
		t.Fatal(err)
	}
	name := "partnerkit-server-v0.1.0-" + runtime.GOOS + "-" + runtime.GOARCH
	var files []string
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		files = append(files, entry.Name())
	}
	if want := []string{"SHA256SUMS", name + ".cdx.json", name + ".tar.gz", "partnerkit-v0.1.0.tar.gz"}; !slices.Equal(files, want) {
		t.Errorf("the folder has %q, want %q", files, want)
	}
	program := unpack(t, filepath.Join(folder, name+".tar.gz"), name+"/")
	if text := string(program["LICENSES-OF-DEPENDENCIES"]); !strings.Contains(text, "modernc.org/sqlite v") || !strings.Contains(text, "The Go Authors") {
		t.Errorf("licenses: %.300s", text)
	}
	if len(program["server"]) < 1<<20 || len(program["LICENSE"]) == 0 {
		t.Errorf("a program of %d bytes, a license of %d", len(program["server"]), len(program["LICENSE"]))
	}
	if source := unpack(t, filepath.Join(folder, "partnerkit-v0.1.0.tar.gz"), "partnerkit-v0.1.0/"); len(source["go.mod"]) == 0 {
		t.Error("the source has no go.mod")
	}
	var got sbom
	if err := json.Unmarshal(program["server.cdx.json"], &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != "CycloneDX" || got.SpecVersion != "1.6" || got.Metadata.Component.PURL != "pkg:golang/github.com/partnerkit/partnerkit@v0.1.0" {
		t.Errorf("got %+v", got.Metadata)
	}
	if len(got.Components) < 3 || len(got.Dependencies[0].DependsOn) != len(got.Components) {
		t.Errorf("there are %d components, %d dependencies", len(got.Components), len(got.Dependencies[0].DependsOn))
	}
	for _, c := range got.Components {
		if c.Version == "" || len(c.Licenses) != 1 || c.Licenses[0].License.ID == "" || c.Name != "std" && len(c.Sums) != 1 {
			t.Errorf("component %+v", c)
		}
	}
}

// unpack reads an archive whose files are all in one folder.
func unpack(t *testing.T, path, folder string) map[string][]byte {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	zip, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		name, found := strings.CutPrefix(header.Name, folder)
		if !found && header.Typeflag == tar.TypeReg {
			t.Errorf("%s is not in %s", header.Name, folder)
		}
		if files[name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}

// A version has the form of Go's, and a section in the changelog.
func TestVersions(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"0.1.0": "want one such as v0.1.0", "v0.1": "want one such as v0.1.0", "v99.1.0": `no section "## 99.1.0,"`} {
		if _, err := checkCommit(version); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", version, err, want)
		}
	}
}
