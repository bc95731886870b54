package proof_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/proof"
)

func TestBeginLeavesALine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "proofs")
	t.Setenv(proof.FileVar, file)
	t.Run("inner", func(t *testing.T) {
		p := proof.Begin(t, "Kills", "kills")
		p.Tried(2)
		p.Tried(1)
		p.Notef("at most %d s", 4)
	})
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"what":"Kills","tried":3,"unit":"kills","violations":0,"note":"at most 4 s",`; !strings.HasPrefix(string(data), want) {
		t.Errorf("%s\nwant %s", data, want)
	}
}
