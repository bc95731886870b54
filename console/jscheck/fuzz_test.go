package jscheck_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/jscheck"
)

// FuzzCheck: every source is accepted or rejected, at a position inside it; and what is
// accepted contains the word export.
func FuzzCheck(f *testing.F) {
	for _, nest := range nests {
		f.Add(handler + ";" + strings.Join(nest[:], ""))
	}
	for _, source := range []string{handler, "", "\ufeff" + handler, "#!/a\n" + handler, "import a from 'a'", "await import('a')", "export let a: b", "<a/>", "\xff", "export { a as \"\\ud800\" }", "`${", "/[", "'"} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 4096 {
			return // deep ones belong in a process
		}
		err := jscheck.Check(t.Context(), source)
		var rejected *console.SourceError
		switch {
		case err == nil && !strings.Contains(source, "export"):
			t.Fatal("accepted")
		case err != nil && !errors.As(err, &rejected):
			t.Fatal(err)
		case err != nil && (rejected.Reason == "" || rejected.Line < 0 || rejected.Column < 0 || rejected.Line > len(source)+1 || rejected.Column > len(source)+1):
			t.Fatalf("%+v", rejected)
		}
	})
}
