package main

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

var block = regexp.MustCompile(`(?s)<pre tabindex="0">(.*?)</pre>`)

// quickStart creates an app and returns it with the blocks of its quick start.
func (r *harness) quickStart(developer *http.Client, kind string) (app map[string]any, blocks []string) {
	r.t.Helper()
	app = do(r.t, developer, request(r.t, http.MethodPost, r.api+"/developer/apps", "application/json",
		`{"name": "First", "type": "`+kind+`", "redirectUris": ["http://localhost:9191/cb?from=a%20b"], "scopes": ["invoices:read", "profile:read"]}`)).
		want(r.t, http.StatusCreated).json(r.t)
	page := get(r.t, developer, r.app+"/developer/apps/"+app["id"].(string)+"/start").want(r.t, http.StatusOK)
	for _, found := range block.FindAllStringSubmatch(page.body[strings.Index(page.body, `id="quick-start"`):], -1) {
		blocks = append(blocks, html.UnescapeString(found[1]))
	}
	if len(blocks) != 6 {
		r.t.Fatalf("the quick start has %d blocks: %q", len(blocks), blocks)
	}
	return app, blocks
}

// sh runs commands and returns what they print.
func sh(t *testing.T, env []string, commands ...string) string {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail")
	shell.Stdin, shell.Env = strings.NewReader(strings.Join(commands, "\n")+"\n"), append(os.Environ(), env...)
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", commands, err, out)
	}
	return strings.TrimSpace(string(out))
}

// The commands of an app's quick start connect a sandbox business and make the first call.
func TestQuickStartCommands(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "bash", "curl", "openssl", "tr")
	for _, kind := range []string{"CONFIDENTIAL", "PUBLIC"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			developer := r.session("usr_dev", "biz_ledgerlink_sandbox")
			app, blocks := r.quickStart(developer, kind)
			printed := strings.Split(sh(t, nil, blocks[0], `echo "$VERIFIER"`, `echo "$STATE"`), "\n")
			form := get(t, developer, printed[0]).want(t, http.StatusOK).form()
			form.Set("business_id", "biz_ledgerlink_sandbox")
			form.Set("decision", "allow")
			location := post(t, developer, r.app+"/oauth/authorize", form).want(t, http.StatusSeeOther).Header.Get("Location")
			back, err := url.Parse(location)
			if err != nil || !strings.HasPrefix(location, "http://localhost:9191/cb?from=a%20b&") || back.Query().Get("state") != printed[2] {
				t.Fatalf("the browser returns to %q: %v", location, err)
			}
			env := []string{"VERIFIER=" + printed[1], "CODE=" + back.Query().Get("code")}
			if secret, ok := app["clientSecret"].(string); ok {
				env = append(env, "CLIENT_SECRET="+secret)
			}
			var tokens struct {
				AccessToken string `json:"access_token"`
			}
			if out := sh(t, env, blocks[1]); json.Unmarshal([]byte(out), &tokens) != nil || tokens.AccessToken == "" {
				t.Fatalf("the exchange prints %s", out)
			}
			if out := sh(t, []string{"ACCESS_TOKEN=" + tokens.AccessToken}, blocks[2]); !strings.HasPrefix(out, `{"data":[{"id":"inv_`) {
				t.Errorf("the first call prints %s", out)
			}
		})
	}
}

// SIG-01: the samples of the quick start, pasted into files, accept a signature and reject
// another one.
func TestQuickStartSamples_SIG01(t *testing.T) {
	t.Parallel()
	r := start(t)
	_, blocks := r.quickStart(r.session("usr_dev", "biz_ledgerlink_sandbox"), "CONFIDENTIAL")
	secret, body := "whsec_"+strings.Repeat("a", 43), `{"id":"dlv_1"}`
	signer, err := signature.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	header := signer.Sign(time.Now(), []byte(body))
	for i, sample := range []struct{ program, file string }{{"node", "verify.mjs"}, {"python3", "verify.py"}} {
		t.Run(sample.program, func(t *testing.T) {
			testenv.Programs(t, sample.program)
			path := filepath.Join(t.TempDir(), sample.file)
			if err := os.WriteFile(path, []byte(blocks[4+i]), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, sent := range []string{body, body + " "} {
				cmd := exec.CommandContext(t.Context(), sample.program, path, header)
				cmd.Stdin, cmd.Env = strings.NewReader(sent), append(os.Environ(), "WEBHOOK_SECRET="+secret)
				if out, err := cmd.CombinedOutput(); (err == nil) != (sent == body) || len(out) > 0 {
					t.Errorf("%q: %v: %s", sent, err, out)
				}
			}
		})
	}
}
