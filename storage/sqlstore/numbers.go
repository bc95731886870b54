package sqlstore

import (
	"context"
	"errors"
	"strconv"

	"github.com/partnerkit/partnerkit/storage"
)

// numberAtOnce is how many events one round numbers at most, so that nobody holds
// the counter of a business for long.
const numberAtOnce = 500

// NumberEvents implements events.Store. It looks first: mostly there is nothing to
// do, and reading then writes nothing.
func (s *Store) NumberEvents(ctx context.Context, businessID string) error {
	var first string
	err := s.read(ctx, "SELECT id FROM partnerkit_event WHERE business_id = $1 AND number IS NULL ORDER BY created_at, id LIMIT 1", []any{businessID}, &first)
	if errors.Is(err, storage.ErrNoRows) {
		return nil
	}
	for n := numberAtOnce; err == nil && n == numberAtOnce; {
		n, err = s.numberSome(ctx, businessID)
	}
	return wrap("number events", err)
}

// numberSome is one round. It reserves its numbers first, which locks the counter:
// the statement after that sees every event that was committed before, and whoever
// numbers next, in this way or as they are planned, waits until these are visible.
// A round that comes too late, for others were faster, leaves nothing behind. Each event
// is found again by its id: over number IS NULL, PostgreSQL would rather look through the
// unnumbered ones of all businesses.
func (s *Store) numberSome(ctx context.Context, businessID string) (numbered int, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *tx) error {
		var last int64
		err := tx.one(ctx, `INSERT INTO partnerkit_event_counter (business_id, last) VALUES ($1, $2)
			ON CONFLICT (business_id) DO UPDATE SET last = partnerkit_event_counter.last + excluded.last
			RETURNING last`, []any{businessID, numberAtOnce}, &last)
		if err != nil {
			return err
		}
		n, err := tx.exec(ctx, `UPDATE partnerkit_event SET number = $2 + unnumbered.place FROM (
				SELECT id, ROW_NUMBER() OVER (ORDER BY created_at, id) AS place FROM partnerkit_event
				WHERE business_id = $1 AND number IS NULL ORDER BY created_at, id LIMIT `+strconv.Itoa(numberAtOnce)+`
			) AS unnumbered
			WHERE partnerkit_event.id = unnumbered.id AND COALESCE(partnerkit_event.number, 0) = 0`, businessID, last-numberAtOnce)
		numbered = int(n)
		if err == nil && n == 0 {
			return errStop
		}
		return err
	})
	if errors.Is(err, errStop) {
		return 0, nil
	}
	return numbered, err
}
