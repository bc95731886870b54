package interop_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// needNode and needPython come before a test starts anything.
func needNode(t *testing.T) {
	t.Helper()
	need(t, "run npm ci in e2e/interop", "node", "--eval", "require.resolve('oauth4webapi')")
}

// python is Debian's: that is where the libraries are installed.
const python = "/usr/bin/python3"

func needPython(t *testing.T) {
	t.Helper()
	need(t, "apt-get install python3-authlib python3-requests-oauthlib", python, "-c", "import authlib, requests_oauthlib")
}

// need skips a test whose client is not installed, or in CI fails it.
func need(t *testing.T, how, name string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("a client is missing, and in CI no test is skipped: %v\n%s", err, out)
	}
	t.Skipf("a client is missing: %s", how)
}

// runs runs a test program that uses only the calls of a third-party library. The program
// prints one line for each step that succeeds, and runs expects exactly the given steps.
// It returns the text that the program prints after the colons.
func runs(t *testing.T, command *exec.Cmd, config any, steps ...string) (said string) {
	t.Helper()
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(text), &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, &stdout, &stderr)
	}
	var made []string
	for line := range strings.Lines(stdout.String()) {
		step, more, _ := strings.Cut(strings.TrimSpace(line), ": ")
		made, said = append(made, step), said+more
	}
	if !slices.Equal(made, steps) {
		t.Errorf("steps %q, want %q\n%s", made, steps, &stderr)
	}
	return said
}

// settings are the input of a test program.
type settings struct {
	Issuer      string `json:"issuer"`
	RedirectURI string `json:"redirectUri"`
	Person      string `json:"person"`
	Scope       string `json:"scope"`
	Web         app    `json:"web"` // confidential
	CommandLine app    `json:"cli"` // public
}

type app struct {
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret,omitempty"`
}

func (s *server) settings() settings {
	return settings{
		Issuer: s.API, RedirectURI: s.redirect, Person: s.hire(), Scope: "profile:read invoices:read",
		Web: app{"interop-web", "interop-secret"}, CommandLine: app{ClientID: "interop-cli"},
	}
}
