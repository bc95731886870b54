//go:build unix

package filelock_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/partnerkit/partnerkit/internal/filelock"
)

// A program that is being started has a copy of every descriptor until it runs. The lock
// is free after Release all the same.
func TestReleaseBesideCopy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file.lock")
	file, ok, err := filelock.Try(path)
	if err != nil || !ok {
		t.Fatalf("the first lock: %v, %v", ok, err)
	}
	copied, err := syscall.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(copied) }()
	if _, ok, err := filelock.Try(path); ok || err != nil {
		t.Fatalf("a lock beside the first: %v, %v", ok, err)
	}
	if err := filelock.Release(file); err != nil {
		t.Fatal(err)
	}
	again, ok, err := filelock.Try(path)
	if err != nil || !ok {
		t.Fatalf("after Release: %v, %v", ok, err)
	}
	if err := filelock.Release(again); err != nil {
		t.Error(err)
	}
}
