package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// keep puts events into the file, all of them or none, and reports how many were
// new. also runs in the same transaction.
func (i *Inbox) keep(ctx context.Context, events []Event, also func(*sql.Tx) error) (fresh int, err error) {
	tx, err := i.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	now := time.Now().UnixMilli()
	for _, e := range events {
		if err := e.validate(); err != nil {
			return 0, err
		}
		body, err := json.Marshal(e)
		if err != nil {
			return 0, err
		}
		result, err := tx.ExecContext(ctx,
			"INSERT INTO event (id, received_at, body, due_at) VALUES ($1, $2, $3, $2) ON CONFLICT (id) DO NOTHING", e.ID, now, body)
		if err != nil {
			return 0, fmt.Errorf("keep event: %w", err)
		}
		n, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		fresh += int(n)
	}
	if fresh > 0 { // what is known already needs no room
		var waiting int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM event WHERE body IS NOT NULL").Scan(&waiting); err != nil {
			return 0, err
		}
		if waiting > i.cfg.Limit {
			return 0, ErrFull
		}
	}
	if also != nil {
		if err := also(tx); err != nil {
			return 0, err
		}
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("keep events: %w", err)
	}
	if fresh > 0 {
		select {
		case i.wake <- struct{}{}:
		default: // it is going to look anyway
		}
	}
	return fresh, nil
}
