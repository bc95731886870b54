package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// rememberFor is how long ids of events are kept that were worked on: the sender
// may send an event again for 30 days, and then try for some hours.
const rememberFor = 35 * 24 * time.Hour

// ErrUnknownCursor is the error of a [Feed] if the service does not know the place
// any more: it keeps events for 30 days.
var ErrUnknownCursor = errors.New("unknown cursor")

// Feed reads one page of the events of a business, oldest first, after an event
// id; "" means from the beginning of what is kept.
type Feed interface {
	Events(ctx context.Context, after string) (Page, error)
}

// Page of the Events API.
type Page struct {
	Events  []Event `json:"events"`
	HasMore bool    `json:"hasMore"`
}

// Report is the result of reconciling.
type Report struct {
	Read  int // events that were read
	Fresh int // of them, those that no webhook had brought
	// Restarted says that the place was lost and everything that is kept was read
	// again. What is older than that is only in the records themselves.
	Restarted bool
}

// Reconcile reads the feed from where it stopped the last time to its end, and
// keeps what is new. The place is kept with the events of each page, so that
// nothing is skipped when it breaks off. With [ErrFull] it has come as far as there
// was room: call it again later. One call at a time for one business.
func (i *Inbox) Reconcile(ctx context.Context, business string, feed Feed) (Report, error) {
	var report Report
	after, err := i.place(ctx, business)
	if err != nil {
		return report, err
	}
	for {
		page, err := feed.Events(ctx, after)
		if errors.Is(err, ErrUnknownCursor) && after != "" && !report.Restarted {
			if _, err := i.db.ExecContext(ctx, "DELETE FROM place WHERE business = $1", business); err != nil {
				return report, err
			}
			after, report.Restarted = "", true
			continue
		}
		if err != nil {
			return report, fmt.Errorf("reconcile: %w", err)
		}
		if len(page.Events) > 0 {
			after = page.Events[len(page.Events)-1].ID
			fresh, err := i.keep(ctx, page.Events, func(tx *sql.Tx) error { return setPlace(ctx, tx, business, after) })
			if err != nil {
				return report, fmt.Errorf("reconcile: %w", err)
			}
			report.Read += len(page.Events)
			report.Fresh += fresh
		}
		if !page.HasMore || len(page.Events) == 0 {
			return report, i.forget(ctx)
		}
	}
}

func (i *Inbox) place(ctx context.Context, business string) (after string, err error) {
	err = i.db.QueryRowContext(ctx, "SELECT after FROM place WHERE business = $1", business).Scan(&after)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return after, err
}

func setPlace(ctx context.Context, tx *sql.Tx, business, after string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO place (business, after) VALUES ($1, $2) ON CONFLICT (business) DO UPDATE SET after = $2", business, after)
	return err
}

// forget drops ids that cannot come again.
func (i *Inbox) forget(ctx context.Context) error {
	_, err := i.db.ExecContext(ctx, "DELETE FROM event WHERE body IS NULL AND received_at < $1", time.Now().Add(-rememberFor).UnixMilli())
	return err
}
