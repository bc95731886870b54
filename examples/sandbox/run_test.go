package sandbox_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	_ "github.com/partnerkit/partnerkit/examples/server/servertest/parts" // compiled with the tests
	"github.com/partnerkit/partnerkit/internal/testenv"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// program returns the program of the sandbox: that of SANDBOX, or the reference server.
func program(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("SANDBOX"); path != "" {
		return path
	}
	path, err := servertest.Program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// SAND-02: the same in other languages.
func TestOtherLanguages_SAND02(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{
		"JavaScript": {"node", "--test", "partner.test.mjs"},
		"Python":     {"python3", "-m", "unittest", "test_partner"},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Programs(t, command[0])
			run := exec.CommandContext(t.Context(), command[0], command[1:]...) //nolint:gosec // our own
			run.Env = append(os.Environ(), "SANDBOX="+program(t), "PYTHONDONTWRITEBYTECODE=1")
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			} else {
				t.Logf("%s", out)
			}
		})
	}
}
