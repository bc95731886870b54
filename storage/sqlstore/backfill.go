package sqlstore

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

// Backfill fills a column of rows that existed before the column. Run does it in small
// transactions, on one node at a time, and continues after a restart.
type Backfill struct {
	// Name is recorded in partnerkit_backfill. It never changes.
	Name string
	// Update fills the next rows behind the key $1, at most $2, in the order of the key, and
	// returns their keys.
	Update string
}

// backfills of this version.
var backfills []Backfill

const (
	// backfillRows is how many rows one transaction fills.
	backfillRows = 1000
	// backfillLog is how often the progress is logged.
	backfillLog = 10 * time.Second
	// backfillAgain is the pause after a failure.
	backfillAgain = 10 * time.Second
)

// backfill fills what is to be filled, and returns when everything is or ctx has ended.
func (s *Store) backfill(ctx context.Context) {
	for _, b := range s.backfills {
		for ctx.Err() == nil {
			err := s.runBackfill(ctx, b)
			if err == nil {
				break
			}
			if ctx.Err() == nil {
				s.log.ErrorContext(ctx, "storage: backfill failed, trying again", "name", b.Name, "err", err)
				pause(ctx, backfillAgain)
			}
		}
	}
}

// runBackfill runs one backfill to its end. Half of the time it leaves the database to others.
func (s *Store) runBackfill(ctx context.Context, b Backfill) error {
	logged, rows := time.Now(), 0
	for ctx.Err() == nil {
		began := time.Now()
		n, isEnd, err := s.fillSome(ctx, b)
		if err != nil {
			return err
		}
		rows += n
		if isEnd {
			if rows > 0 {
				s.log.InfoContext(ctx, "storage: backfilled", "name", b.Name, "rows", rows)
			}
			return nil
		}
		if time.Since(logged) > backfillLog {
			s.log.InfoContext(ctx, "storage: backfilling", "name", b.Name, "rows", rows)
			logged = time.Now()
		}
		pause(ctx, time.Since(began))
	}
	return ctx.Err()
}

// fillSome fills the next rows. The row of the backfill, which it locks, has the place.
func (s *Store) fillSome(ctx context.Context, b Backfill) (rows int, isEnd bool, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *tx) error {
		rows = 0
		if _, err := tx.exec(ctx, "INSERT INTO partnerkit_backfill (name, place, is_done) VALUES ($1, '', FALSE) ON CONFLICT (name) DO NOTHING", b.Name); err != nil {
			return err
		}
		var place string
		if err := tx.one(ctx, "SELECT place, is_done FROM partnerkit_backfill WHERE name = $1"+tx.dialect.ForUpdate, []any{b.Name}, &place, &isEnd); err != nil || isEnd {
			return err
		}
		err := storage.Each(ctx, tx.on, tx.sql.of(b.Update), []any{place, backfillRows}, func(scan func(...any) error) error {
			var key string
			err := scan(&key)
			rows, place = rows+1, max(place, key)
			return err
		})
		if err != nil {
			return err
		}
		isEnd = rows < backfillRows
		_, err = tx.exec(ctx, "UPDATE partnerkit_backfill SET place = $1, is_done = $2 WHERE name = $3", place, isEnd, b.Name)
		return err
	})
	return rows, isEnd, wrap("backfill "+b.Name, err)
}
