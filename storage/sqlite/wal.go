package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

const (
	// busyTimeout is how long a statement waits for another connection's lock, such as that of a
	// transaction on a connection of the host's.
	busyTimeout = 5 * time.Second
	// checkpointPages is the size of the log, in pages, from which SQLite copies it into the
	// database file after each commit. 4,000 pages are about what the first block of the log's
	// index covers. Frequently written pages are then copied less often.
	checkpointPages = 4000
	// keptLog is what is kept of the log's file for the log to overwrite, about as much as
	// checkpointPages take. Overwriting a file is faster than making it longer.
	keptLog = 16 << 20
	// longLog is the size of the log's file from which the writer restarts the log.
	longLog = 20 << 20
	// mostLog is the size beyond which a log that cannot be restarted is worth a warning.
	mostLog = 64 << 20

	// A restart waits for readers for at most restartTries times restartWait.
	restartTries = 50
	restartWait  = 10 * time.Millisecond
	// After a restart that failed, the next one waits for a pause, twice as long each time.
	firstRestartPause, lastRestartPause = time.Second / 2, time.Minute
)

// walFile is the file of the log, and what is known about restarts that failed.
//
// SQLite overwrites the log from its start when a transaction begins at a moment at which the
// database file contains all of the log and nobody reads from the log. There is no such moment
// while readers overlap: each of them holds the state at which it began, and commits follow. The
// log would grow for as long as that lasts. So the writer makes such a moment between two
// batches, when no commit follows: new readers then begin at the last state and, once the
// database file contains it, read from that file alone.
//
// 64 writers beside one reader that always has a list open write 1.7 times as much with
// restarts as without, and beside four readers 1.2 times: SQLite syncs both files at each commit
// to a log that is longer than checkpointPages.
type walFile struct {
	path  string
	pause time.Duration // after the last restart, 0 if it succeeded
	next  time.Time     // the end of that pause
	told  bool          // the size was logged
}

// tendLog restarts the log if it is long. Only the holder of the connection calls it, outside of
// a transaction. It looks at the size of the file, which takes 1.5 µs; a commit that reaches the
// disk takes a hundred times as long.
func (w *writer) tendLog() {
	info, err := os.Stat(w.wal.path)
	if err != nil {
		return // no log yet
	}
	if info.Size() < longLog {
		w.wal.pause, w.wal.told = 0, false
		return
	}
	if w.wal.pause > 0 && time.Now().Before(w.wal.next) {
		return
	}
	if err = w.restartLog(); err == nil {
		w.wal.pause, w.wal.told = 0, false
		return
	}
	w.wal.pause = min(max(2*w.wal.pause, firstRestartPause), lastRestartPause)
	w.wal.next = time.Now().Add(w.wal.pause)
	if info.Size() > mostLog && !w.wal.told {
		w.wal.told = true
		w.log.Warn("sqlite: the log cannot be restarted and grows", "bytes", info.Size(), "err", err)
	}
}

var errLogInUse = errors.New("a read that stays open uses it")

// restartLog copies the log into the database file and waits until nobody reads from the log.
// The next transaction then overwrites the log from its start and cuts its file to keptLog.
//
// It waits in several short tries. SQLite waits for the readers of old states by waiting for the
// slots that they hold, even after readers of the last state have taken over such a slot; with
// overlapping readers it may not be free again. A new try finds out that it need not wait for it.
// Of restarts with one try of 250 ms, a fifth failed; with tries of 10 ms, none.
func (w *writer) restartLog() (err error) {
	if err := w.waitForLocks(restartWait); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.waitForLocks(busyTimeout)) }()
	for range restartTries {
		var busy, frames, copied int
		err := w.conn.one(context.Background(), "PRAGMA wal_checkpoint(RESTART)", nil, []any{&busy, &frames, &copied})
		if err != nil || busy == 0 {
			return err
		}
	}
	return errLogInUse
}

// waitForLocks sets how long a statement of the writer waits for a lock. A prepared statement
// would not do: SQLite sets it while it prepares the statement.
func (w *writer) waitForLocks(wait time.Duration) error {
	_, err := w.raw.ExecContext(context.Background(), fmt.Sprintf("PRAGMA busy_timeout = %d", wait.Milliseconds()))
	return err
}
