package sqlite_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
)

// The SQLite inside is younger than its WAL-reset bug, in which two connections that
// write and checkpoint at the same moment corrupt the file: https://sqlite.org/wal.html#walresetbug.
// TestOneProcess shows the other half: there is one writer.
func TestWALResetIsMended(t *testing.T) {
	t.Parallel()
	var version string
	if err := storage.One(t.Context(), open(t), "SELECT sqlite_version()", nil, &version); err != nil {
		t.Fatal(err)
	}
	var major, minor, patch int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); err != nil {
		t.Fatalf("%q: %v", version, err)
	}
	if got := major*1_000_000 + minor*1_000 + patch; got < 3_051_003 {
		t.Errorf("SQLite %s corrupts files; 3.51.3 was the first that does not", version)
	}
}

// A committed write is on the disk before its caller gets a response, so that it survives a
// power loss. A database that acknowledges before it syncs can lose acknowledged writes:
// https://jepsen.io/analyses/nats-2.12.1.
func TestCommitsReachTheDisk(t *testing.T) {
	t.Parallel()
	var mode int
	err := open(t).Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
		return storage.One(ctx, tx, "PRAGMA synchronous", nil, &mode)
	})
	if err != nil || mode != 2 { // FULL
		t.Errorf("synchronous = %d, %v; want 2, FULL", mode, err)
	}
}
