package servertest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What the demo knows its web app by.
const (
	ClientID      = "ledgerlink-sync"
	ClientSecret  = "demo-secret-ledgerlink-sync" //nolint:gosec // that of the demo
	WebhookSecret = "whsec_demo_ledgerlink_sync"  //nolint:gosec // likewise
	Business      = "biz_bakery"
	User          = "usr_ada"
	DemoURL       = "http://localhost:9090"
)

// fixtures returns the demo with its web app elsewhere.
func fixtures(t testing.TB, partnerURL string) string {
	t.Helper()
	where, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", importPath).Output()
	if err != nil {
		t.Fatal(err)
	}
	demo, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(where)), "fixtures", "demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	return writeFixtures(t, []byte(strings.ReplaceAll(string(demo), DemoURL, partnerURL)))
}

// WriteFixtures writes data as a file for the flag -fixtures, and returns its path.
func WriteFixtures(t testing.TB, data any) string {
	t.Helper()
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return writeFixtures(t, text)
}

func writeFixtures(t testing.TB, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fixtures.json")
	if err := os.WriteFile(path, text, 0o600); err != nil { //nolint:gosec // a folder of the test's
		t.Fatal(err)
	}
	return path
}
