package storetest_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/storetest"
)

// inChild is set in the process whose tests are meant to fail.
const inChild = "PARTNERKIT_WRONG_STORES"

// Every wrong store fails the case of the promise that it breaks. The suite fails its test,
// so it runs in a child process; each store runs its one case.
func TestWrongStoresAreCaught(t *testing.T) {
	t.Parallel()
	var only []string
	for _, wrong := range wrongStores {
		only = append(only, "^TestWrongStore$/^"+name(wrong.breaks)+"$/"+path(wrong.caught))
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.short", "-test.timeout=2m", "-test.run", strings.Join(only, "|"))
	child.Env = append(os.Environ(), inChild+"=1")
	out, err := child.CombinedOutput()
	if err == nil {
		t.Fatalf("the child passed:\n%s", out)
	}
	for _, wrong := range wrongStores {
		t.Run(wrong.breaks, func(t *testing.T) {
			t.Parallel()
			failed := "--- FAIL: TestWrongStore/" + name(wrong.breaks) + "/" + name(wrong.caught) + " ("
			if !strings.Contains(string(out), failed) {
				t.Errorf("%q did not fail; the child said\n%s", wrong.caught, out)
			}
		})
	}
}

// name is that of a subtest in the output, and path a pattern for it.
func name(text string) string { return strings.ReplaceAll(text, " ", "_") }

func path(text string) string {
	var all []string
	for part := range strings.SplitSeq(name(text), "/") {
		all = append(all, "^"+regexp.QuoteMeta(part)+"$")
	}
	return strings.Join(all, "/")
}

// TestWrongStore runs the suite on the wrong stores. It fails, and runs in a child of
// TestWrongStoresAreCaught only.
func TestWrongStore(t *testing.T) {
	t.Parallel()
	if os.Getenv(inChild) == "" {
		t.Skip("TestWrongStoresAreCaught runs it")
	}
	for _, wrong := range wrongStores {
		t.Run(wrong.breaks, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t testing.TB) partnerkit.Store { return wrong.wrap(openForwarding(t)) })
		})
	}
}
