package main

import (
	"encoding/json"
	"io"
	"runtime/debug"
)

// The members of CycloneDX 1.6 that we write. There is no serial number and no time, so
// that the same program always has the same document.
type sbom struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type     string          `json:"type"`
	Ref      string          `json:"bom-ref"`
	Name     string          `json:"name"`
	Version  string          `json:"version"`
	PURL     string          `json:"purl"`
	Licenses []licenseChoice `json:"licenses"`
	Sums     []property      `json:"properties,omitempty"`
}

type licenseChoice struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// writeSBOM writes the document of a program, from what the go command has recorded in it. The
// modules are those of info.Deps, in the same order.
func writeSBOM(out io.Writer, info *debug.BuildInfo, modules []*module) error {
	main := newComponent("application", &info.Main, "Apache-2.0")
	document := sbom{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Metadata: metadata{Component: main}}
	document.Components = append(document.Components,
		newComponent("library", &debug.Module{Path: "std", Version: info.GoVersion}, "BSD-3-Clause"))
	for i, dep := range info.Deps {
		document.Components = append(document.Components, newComponent("library", dep, modules[i].License))
	}
	all := dependency{Ref: main.Ref}
	for _, c := range document.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	document.Dependencies = []dependency{all}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

func newComponent(kind string, m *debug.Module, license string) component {
	purl := "pkg:golang/" + m.Path + "@" + m.Version
	c := component{Type: kind, Ref: purl, Name: m.Path, Version: m.Version, PURL: purl, Licenses: make([]licenseChoice, 1)}
	c.Licenses[0].License.ID = license
	if m.Sum != "" {
		c.Sums = []property{{Name: "go:sum", Value: m.Sum}}
	}
	return c
}
