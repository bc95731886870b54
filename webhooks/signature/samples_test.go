package signature_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// SIG-01, SIG-03: the samples of docs/webhooks.md accept what the signer signs and reject
// everything else. The guide shows the files that run here.
func TestSamples(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	old, current := "whsec_"+strings.Repeat("a", 43), "whsec_"+strings.Repeat("b", 43)
	signer, err := signature.NewSigner(current, old)
	if err != nil {
		t.Fatal(err)
	}
	const body = "{\"name\":\"Käse\"}\n"
	now := time.Now()
	fresh := signer.Sign(now, []byte(body))
	tests := []struct {
		name, header, body, secret string
		want                       bool
	}{
		{"current secret", fresh, body, current, true},
		{"previous secret", fresh, body, old, true},
		{"another secret", fresh, body, "whsec_" + strings.Repeat("c", 43), false},
		{"changed body", fresh, body + " ", current, false},
		{"too old", signer.Sign(now.Add(-10*time.Minute), []byte(body)), body, current, false},
		{"too new", signer.Sign(now.Add(10*time.Minute), []byte(body)), body, current, false},
		{"two times", "t=1," + fresh, body, current, false},
		{"no signature", strings.Split(fresh, ",")[0], body, current, false},
		{"empty", "", body, current, false},
	}
	for interpreter, file := range map[string]string{"python3": "verify.py", "node": "verify.mjs", "php": "verify.php"} {
		t.Run(interpreter, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("samples", file)
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(guide), string(source)) {
				t.Errorf("docs/webhooks.md does not show %s", path)
			}
			if _, err := exec.LookPath(interpreter); err != nil {
				t.Skipf("%s is not installed: %v", interpreter, err)
			}
			for _, test := range tests {
				cmd := exec.CommandContext(t.Context(), interpreter, path, test.header)
				cmd.Stdin, cmd.Env = strings.NewReader(test.body), append(os.Environ(), "WEBHOOK_SECRET="+test.secret)
				out, err := cmd.CombinedOutput()
				if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 || len(out) > 0) {
					t.Fatalf("%s: %v: %s", test.name, err, out)
				}
				if got := err == nil; got != test.want {
					t.Errorf("%s: valid = %v, want %v", test.name, got, test.want)
				}
			}
		})
	}
}
