package racetest_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/partnerkit/partnerkit/internal/racetest"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// onSQLite returns a new file. A crash leaves that file and its write-ahead log: the
// operating system keeps both when a process dies.
func onSQLite(t testing.TB) racetest.Database {
	t.Helper()
	file := filepath.Join(t.TempDir(), "race.db")
	return racetest.Database{
		Connect: func(t testing.TB) storage.DB {
			t.Helper()
			db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: file})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			return db
		},
		Crash: func(ctx context.Context) (storage.DB, error) {
			dir, err := os.MkdirTemp(filepath.Dir(file), "crash")
			if err != nil {
				return nil, err
			}
			left := filepath.Join(dir, "race.db")
			for _, end := range []string{"", "-wal"} {
				if err := copyFile(file+end, left+end); err != nil {
					return nil, err
				}
			}
			db, err := sqlite.OpenDB(ctx, sqlite.Config{Path: left})
			if err != nil {
				return nil, err
			}
			return removed{db, dir}, nil
		},
	}
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// removed is a database that removes its directory when it is closed.
type removed struct {
	*sqlite.DB
	dir string
}

func (r removed) Close() error { return errors.Join(r.DB.Close(), os.RemoveAll(r.dir)) }

func TestSQLite(t *testing.T) {
	t.Parallel()
	racetest.Run(t, onSQLite)
}
