package openapi_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/oapi-codegen/runtime" // what the generated client needs
	_ "go.yaml.in/yaml/v3"              // the same

	"github.com/partnerkit/partnerkit/internal/testenv"
)

const generator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.1"

// A client that oapi-codegen makes of what apps call compiles, and lists invoices. It
// has fifty thousand lines and is not kept.
func TestGeneratedClient(t *testing.T) {
	t.Parallel()
	if !testenv.Proving() {
		t.Skip("compiles a generator and fifty thousand lines: set " + testenv.ProveVar)
	}
	s := serve(t, ":memory:")
	n := s.newcomers()
	dir := t.TempDir()
	source := filepath.Join(dir, "client.go")
	generate := exec.CommandContext(t.Context(), "go", "run", generator, "-config", filepath.Join("testdata", "oapi-codegen.yaml"), "-o", source,
		filepath.Join("..", "..", "..", "examples", "server", "openapi.yaml"))
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// The compiler sees the client and its user as packages of this module.
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(here, "generated", "client", "client.go"): source,
		filepath.Join(here, "generated", "main.go"):             filepath.Join(here, "testdata", "lister", "main.go"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	list := exec.CommandContext(t.Context(), "go", "run", "-overlay", file, "./generated")
	list.Env = append(os.Environ(), "API="+s.API, "TOKEN="+n.token)
	out, err := list.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %.2000s", err, out)
	}
	if ids := strings.Fields(string(out)); len(ids) != 2 || !strings.HasPrefix(ids[0], "inv_") {
		t.Errorf("listed %q, want two invoices of the demo", ids)
	}
}
