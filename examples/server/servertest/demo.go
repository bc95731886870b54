package servertest

import (
	"encoding/json"
	"net/http"
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
	path := filepath.Join(t.TempDir(), "fixtures.json")
	moved := strings.ReplaceAll(string(demo), DemoURL, partnerURL)
	if err := os.WriteFile(path, []byte(moved), 0o600); err != nil { //nolint:gosec // a folder of the test's
		t.Fatal(err)
	}
	return path
}

// Dev makes a call of /dev and reads its response into out, which may be nil.
func (s *Server) Dev(path, body string, out any) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.API+"/dev/"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		s.t.Fatalf("/dev/%s: %s", path, res.Status)
	}
	if out == nil {
		return
	}
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		s.t.Fatal(err)
	}
}
