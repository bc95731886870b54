package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// On a disk that fills up under load, every operation that returned success is stored and
// no other operation is. Reads continue, and writes succeed again once there is space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=3m"); err != nil {
		t.Skipf("needs the right to mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: filepath.Join(dir, "full.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(t.Context(), "CREATE TABLE filled (id BIGINT PRIMARY KEY, filler BYTEA)"); err != nil {
		t.Fatal(err)
	}
	var next, responded, refused atomic.Int64
	write := func() error {
		id := next.Add(1)
		return db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO filled (id, filler) VALUES ($1, $2)", id, make([]byte, 3000))
			return err
		})
	}
	testdb.Race(16, func(int) {
		for range 100 {
			switch err := write(); {
			case err == nil:
				responded.Add(1)
			case errors.Is(err, storage.ErrFull):
				refused.Add(1)
			default:
				t.Error(err)
			}
		}
	})
	var rows int64
	if err := storage.One(t.Context(), db, "SELECT COUNT(*) FROM filled", nil, &rows); err != nil {
		t.Fatal(err)
	}
	if rows != responded.Load() || refused.Load() == 0 {
		t.Errorf("%d rows, %d answered, %d refused", rows, responded.Load(), refused.Load())
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := write(); err != nil {
		t.Errorf("with space again: %v", err)
	}
}
