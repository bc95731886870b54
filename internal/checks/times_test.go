package checks_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A time.Time in JSON loses its zeros at the end. Types with a MarshalJSON of their own are
// exempt, and so is the example of a partner, which writes a file of its own.
func TestTimesInJSON(t *testing.T) {
	t.Parallel()
	plain := regexp.MustCompile("time\\.Time +`json:")
	exempt := []string{"appdata/valuestore/field.go", "appdata/valuestore/value.go", "analytics/report.go", "examples/partner/client/tokens.go"}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || slices.Contains(exempt, path) {
			return err
		}
		text, err := os.ReadFile(path)
		if found := plain.Find(text); found != nil {
			t.Errorf("%s: %s…: use stamp.Time, which writes milliseconds", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
