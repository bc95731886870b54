package client_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

func pairOf(name string) client.Tokens {
	return client.Tokens{Access: "access " + name, Refresh: "refresh " + name, Scope: "profile:read", ExpiresAt: time.Unix(1767225600, 0).UTC()}
}

// CLI-01: the file has one whole pair or the other, and no other user can read it.
func TestFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := client.File{Path: filepath.Join(folder, "tokens.json")}
	if _, ok, err := file.Load(); ok || err != nil {
		t.Errorf("before the first: %t, %v", ok, err)
	}
	for _, name := range []string{"one", "two"} {
		if err := file.Save(pairOf(name)); err != nil {
			t.Fatal(err)
		}
		got, ok, err := file.Load()
		if !ok || err != nil {
			t.Fatalf("%t, %v", ok, err)
		}
		if diff := cmp.Diff(pairOf(name), got); diff != "" {
			t.Error(diff)
		}
	}
	if info, err := os.Stat(file.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// A crash while the next pair was being written.
	if err := os.WriteFile(file.Path+".new", []byte(`{"access_token": "acc`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := file.Load(); !ok || err != nil || got.Access != "access two" {
		t.Errorf("after a crash: %t, %v", ok, err)
	}
	if err := file.Save(pairOf("three")); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	for range 2 {
		if err := file.Delete(); err != nil {
			t.Error(err)
		}
	}
	if _, ok, err := file.Load(); ok || err != nil {
		t.Errorf("after Delete: %t, %v", ok, err)
	}
}

// A corrupted file is an error. It is not treated as an empty file.
func TestBrokenFile(t *testing.T) {
	t.Parallel()
	file := client.File{Path: filepath.Join(t.TempDir(), "tokens.json")}
	if err := os.WriteFile(file.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client.NewSource(&client.App{}, file); err == nil || !strings.Contains(err.Error(), "tokens.json") {
		t.Errorf("error %v", err)
	}
}

// Tokens do not end up in logs.
func TestTokensAreNotPrinted(t *testing.T) {
	t.Parallel()
	if text := pairOf("one").String(); strings.Contains(text, "one") {
		t.Error(text)
	}
}
