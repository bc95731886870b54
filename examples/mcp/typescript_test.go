package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// META-07, API-10, REF-01: the TypeScript SDK's client, from the first 401 to a tool's
// result, with a further scope and refreshed tokens.
func TestTypeScriptSDK(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("typescript/node_modules"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("run npm ci in examples/mcp/typescript: in CI no test is skipped")
		}
		t.Skip("run npm ci in examples/mcp/typescript")
	}
	h := newHarness(t, settings{})
	person := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/expire" {
			h.clock.Advance(time.Hour)
			return
		}
		asked, _ := io.ReadAll(r.Body)
		back, err := h.approve(string(asked), sandbox)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, back.String())
	}))
	defer person.Close()
	config, err := json.Marshal(map[string]string{"server": h.APIURL + path, "person": person.URL})
	if err != nil {
		t.Fatal(err)
	}
	client := exec.CommandContext(t.Context(), "node", "client.mjs")
	client.Dir, client.Stdin = "typescript", bytes.NewReader(config)
	out, err := client.CombinedOutput()
	if steps := strings.Fields(string(out)); err != nil || strings.Join(steps, " ") != "authorization tool step-up idempotency refresh error" {
		t.Errorf("%v\n%s", err, out)
	}
}
