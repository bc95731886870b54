package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// After a failure the work on an event pauses for a second, then two, four, up to
// longestPause.
const (
	firstPause   = time.Second
	longestPause = 10 * time.Minute
	idle         = time.Hour // between looks when nothing wakes it
)

// Run works on what waits, and on what comes, until ctx ends. It returns nil then,
// and an error when the file fails.
func (i *Inbox) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-i.wake:
		case <-timer.C:
		}
		pause, err := i.workOnce(ctx)
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("inbox: %w", err)
		}
		timer.Reset(pause)
	}
}

// workOnce works on the event that is due first, and returns how long nothing is due
// after that.
func (i *Inbox) workOnce(ctx context.Context) (pause time.Duration, err error) {
	var (
		seq, due int64
		failures int
		body     []byte
	)
	err = i.db.QueryRowContext(ctx,
		"SELECT seq, due_at, failures, body FROM event WHERE body IS NOT NULL ORDER BY due_at, seq LIMIT 1").Scan(&seq, &due, &failures, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return idle, nil
	}
	if err != nil {
		return 0, err
	}
	if wait := time.Until(time.UnixMilli(due)); wait > 0 {
		return min(wait, idle), nil
	}
	var e Event
	if err := json.Unmarshal(body, &e); err != nil {
		return 0, fmt.Errorf("event %d: %w", seq, err)
	}
	worked := i.cfg.Work(ctx, e)
	// Finished work is marked even if the process was just asked to stop.
	ctx = context.WithoutCancel(ctx)
	if worked == nil {
		_, err = i.db.ExecContext(ctx, "UPDATE event SET body = NULL WHERE seq = $1", seq)
		return 0, err
	}
	next := time.Now().Add(pauseAfter(failures))
	i.cfg.Logger.WarnContext(ctx, "processing an event failed", "event", e.ID, "type", e.Type, "again", next, "err", worked)
	_, err = i.db.ExecContext(ctx, "UPDATE event SET failures = failures + 1, due_at = $1 WHERE seq = $2", next.UnixMilli(), seq)
	return 0, err
}

func pauseAfter(failures int) time.Duration {
	return min(firstPause<<min(failures, 16), longestPause)
}
