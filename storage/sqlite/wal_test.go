package sqlite_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

const (
	mostLog    = 64 << 20
	logWriters = 16
	logRow     = 64 << 10 // bytes of a row
	// mostBatch is more than a transaction with a row of each writer adds to the log.
	mostBatch = 2 * logWriters * logRow
)

// logged is a database with a table of large rows and a list, and the file of its log.
type logged struct {
	*sqlite.DB
	file     string
	warnings logtest.Buffer
	largest  atomic.Int64 // size of the log that was seen
}

func openLogged(t *testing.T) *logged {
	t.Helper()
	path := filepath.Join(t.TempDir(), "logged.db")
	l := &logged{file: path + "-wal"}
	var err error
	l.DB, err = sqlite.OpenDB(t.Context(), sqlite.Config{Path: path, Readers: 16, WriteWait: time.Minute, Logger: slog.New(slog.NewTextHandler(&l.warnings, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, statement := range []string{
		"CREATE TABLE large (id INTEGER PRIMARY KEY, filler BYTEA)",
		"CREATE TABLE listed (id INTEGER PRIMARY KEY, name TEXT)",
		"INSERT INTO listed (name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT 'name ' || i FROM n",
	} {
		if _, err := l.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// list opens a list and reads its first row, so that it reads from the log.
func (l *logged) list(t *testing.T) storage.Rows {
	t.Helper()
	rows, err := l.Query(t.Context(), "SELECT id, name FROM listed ORDER BY id")
	if err != nil {
		t.Error(err)
		return nil
	}
	if !rows.Next() {
		t.Error("an empty list:", rows.Err())
	}
	return rows
}

// overlap keeps lists open until the function that it returns is called. Each reader opens
// its next list before it closes the one before.
func (l *logged) overlap(t *testing.T, readers int) (stop func()) {
	t.Helper()
	var over atomic.Bool
	var wg sync.WaitGroup
	for range readers {
		open := l.list(t)
		wg.Go(func() {
			for open != nil {
				time.Sleep(time.Millisecond)
				var next storage.Rows
				if !over.Load() {
					next = l.list(t)
				}
				for open.Next() {
				}
				if err := open.Close(); err != nil {
					t.Error(err)
				}
				open = next
			}
		})
	}
	return func() { over.Store(true); wg.Wait() }
}

// fill writes rows from several goroutines as fast as it can, and watches the log.
func (l *logged) fill(t *testing.T, rows int) {
	t.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range logWriters {
		wg.Go(func() {
			for next.Add(1) <= int64(rows) {
				err := l.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
					_, err := tx.Exec(ctx, "INSERT INTO large (filler) VALUES (zeroblob($1))", logRow)
					return err
				})
				if err != nil {
					t.Error("write:", err)
					return
				}
				for size := l.size(t); ; {
					seen := l.largest.Load()
					if size <= seen || l.largest.CompareAndSwap(seen, size) {
						break
					}
				}
			}
		})
	}
	wg.Wait()
}

// size returns the size of the log's file.
func (l *logged) size(t *testing.T) int64 {
	t.Helper()
	info, err := os.Stat(l.file)
	if err != nil {
		t.Error(err)
		return 0
	}
	return info.Size()
}

// OPER-04: the log stays small although lists are open at every moment.
func TestLogStaysSmall_OPER04(t *testing.T) {
	t.Parallel()
	for name, readers := range map[string]int{"one reader": 1, "several readers": 4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := openLogged(t)
			stop := l.overlap(t, readers)
			l.fill(t, testenv.Rounds(2_000, 40_000))
			stop()
			t.Logf("the log had at most %d MiB", l.largest.Load()>>20)
			if got := l.largest.Load(); got > mostLog+mostBatch {
				t.Errorf("the log had %d MiB while readers overlapped, want at most 64 MiB and one transaction", got>>20)
			}
			if said := l.warnings.String(); said != "" {
				t.Error(said)
			}
		})
	}
}

// OPER-04: a read that stays open does not stop writes. The log grows meanwhile, which is logged once,
// and shrinks after the read.
func TestLogBesideALongRead_OPER04(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := openLogged(t)
		for round := range 2 {
			list := l.list(t)
			for range 6 {
				l.fill(t, 300)
				time.Sleep(2 * time.Minute) // longer than any pause between two restarts
			}
			if got := l.size(t); got < mostLog {
				t.Errorf("the log has %d MiB beside a read that needs it", got>>20)
			}
			if got := l.warnings.Count("the log cannot be restarted"); got != round+1 {
				t.Errorf("%d warnings, want %d: %s", got, round+1, l.warnings.String())
			}
			if err := list.Close(); err != nil {
				t.Error(err)
			}
			l.fill(t, 1) // restarts the log
			l.fill(t, 1) // overwrites its start
			if got := l.size(t); got > 20<<20 {
				t.Errorf("the log has %d MiB after the read", got>>20)
			}
		}
	})
}
