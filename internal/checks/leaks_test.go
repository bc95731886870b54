package checks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unwatched are packages whose tests may leave a goroutine, with the reason.
var unwatched = map[string]string{}

// Every package that has tests fails when one of them leaves a goroutine behind. No
// driver needs an exception.
func TestLeaksAreLookedFor(t *testing.T) {
	t.Parallel()
	watched := 0
	for room, p := range list(t) {
		files := append(p.TestGoFiles, p.XTestGoFiles...)
		if _, excused := unwatched[room]; len(files) == 0 || excused {
			continue
		}
		isWatched := false
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			isWatched = isWatched || strings.Contains(string(text), "\tgoleak.VerifyTestMain(") || strings.Contains(string(text), "{ goleak.VerifyTestMain(") ||
				strings.Contains(string(text), "servertest.Main(m)")
		}
		if !isWatched {
			t.Errorf("%s: give its TestMain a goleak.VerifyTestMain", room)
		}
		watched++
	}
	if watched < 30 {
		t.Errorf("only %d packages have tests", watched)
	}
}
