package samples_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/samples"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// SIG-01, SIG-03: the samples of docs/webhooks.md accept what the signer signs and reject
// everything else. The guide shows the files that run here.
func TestSamples_SIG01_SIG03(t *testing.T) {
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
	for name, sample := range map[string]struct {
		source  string
		program string
		args    []string
	}{
		"Go":      {samples.Go, goProgram(t), nil},
		"Python":  {samples.Python, "python3", []string{"verify.py"}},
		"Node.js": {samples.Node, "node", []string{"verify.mjs"}},
		"PHP":     {samples.PHP, "php", []string{"verify.php"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(string(guide), sample.source) {
				t.Error("docs/webhooks.md does not show it")
			}
			testenv.Programs(t, sample.program)
			for _, test := range tests {
				cmd := exec.CommandContext(t.Context(), sample.program, append(sample.args, test.header)...)
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

// goProgram builds the sample in Go.
func goProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "verify")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./verify").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}
