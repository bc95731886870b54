package main

import (
	"debug/buildinfo"
	"encoding/json"
	"io"
	"runtime/debug"
	"slices"
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
	Licenses []licenseChoice `json:"licenses,omitempty"`
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

// writeSBOM reads what the go command has recorded in a program.
func writeSBOM(out io.Writer, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	modules, err := allModules(".")
	if err != nil {
		return err
	}
	main := newComponent("application", &info.Main, "Apache-2.0")
	document := sbom{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Metadata: metadata{Component: main}}
	document.Components = append(document.Components,
		newComponent("library", &debug.Module{Path: "std", Version: info.GoVersion}, "BSD-3-Clause"))
	for _, dep := range info.Deps {
		at := slices.IndexFunc(modules, func(m *module) bool { return m.Path == dep.Path })
		license := ""
		if at >= 0 {
			license = modules[at].License
		}
		document.Components = append(document.Components, newComponent("library", dep, license))
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
	c := component{Type: kind, Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
	if license != "" {
		choice := licenseChoice{}
		choice.License.ID = license
		c.Licenses = []licenseChoice{choice}
	}
	if m.Sum != "" {
		c.Sums = []property{{Name: "go:sum", Value: m.Sum}}
	}
	return c
}
