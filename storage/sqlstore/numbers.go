package sqlstore

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/storage"
)

// numberAtOnce is how many events one transaction numbers at most, so that it holds the
// counter of a business for a short time.
const numberAtOnce = 500

// unnumbered is an event without a number.
type unnumbered struct{ id, business string }

// NumberEvents implements events.Store.
func (s *Store) NumberEvents(ctx context.Context, n events.Numbering) (events.Numbered, error) {
	number := s.numberBusiness
	if n.BusinessID == "" {
		number = s.numberSome
	}
	done, err := number(ctx, n)
	return done, wrap("number events", err)
}

// numberBusiness looks for one event first: usually all events have numbers, and
// PostgreSQL finds a single row by the index regardless of its statistics.
func (s *Store) numberBusiness(ctx context.Context, n events.Numbering) (done events.Numbered, err error) {
	var first string
	err = s.read(ctx, "SELECT id FROM partnerkit_event WHERE business_id = $1 AND number IS NULL ORDER BY created_at, id LIMIT 1", []any{n.BusinessID}, &first)
	if errors.Is(err, storage.ErrNoRows) {
		return done, nil
	} else if err != nil {
		return done, err
	}
	for {
		found, err := s.numberFound(ctx, `SELECT id, business_id FROM partnerkit_event
			WHERE business_id = $1 AND number IS NULL ORDER BY created_at, id LIMIT $2`, n.BusinessID, numberAtOnce)
		if len(found) > 0 {
			done.LastID = found[len(found)-1].id
		}
		if err != nil || len(found) < numberAtOnce {
			return done, err
		}
	}
}

// numberSome numbers events of every business.
func (s *Store) numberSome(ctx context.Context, n events.Numbering) (events.Numbered, error) {
	found, err := s.numberFound(ctx, `SELECT id, business_id FROM partnerkit_event
		WHERE number IS NULL AND id > $1 ORDER BY id LIMIT $2`, n.After, numberAtOnce)
	if err != nil || len(found) == 0 {
		return events.Numbered{}, err
	}
	return events.Numbered{LastID: found[len(found)-1].id, HasMore: len(found) == numberAtOnce}, nil
}

// numberFound numbers the events that the query finds, in its order, and returns them. When
// another transaction has numbered one of them in between, the query runs again.
func (s *Store) numberFound(ctx context.Context, query string, args ...any) ([]unnumbered, error) {
	for {
		var found []unnumbered
		err := storage.Each(ctx, s, s.sql.of(query), args, func(scan func(...any) error) error {
			var one unnumbered
			err := scan(&one.id, &one.business)
			found = append(found, one)
			return err
		})
		if err != nil || len(found) == 0 {
			return nil, err
		}
		if err := s.number(ctx, found); !errors.Is(err, errStop) {
			return found, err
		}
	}
}

// number gives the events of each business its next numbers. It locks the counters first,
// in one order: numbers become visible in the order in which they were given. It returns
// errStop, and changes nothing, when one of the events has a number.
func (s *Store) number(ctx context.Context, found []unnumbered) error {
	counts := map[string]int64{}
	for _, one := range found {
		counts[one.business]++
	}
	counters := make([][]any, 0, len(counts))
	for _, business := range slices.Sorted(maps.Keys(counts)) {
		counters = append(counters, []any{business, counts[business]})
	}
	return s.write(ctx, func(ctx context.Context, tx *tx) error {
		next := make(map[string]int64, len(counts))
		err := tx.returnMany(ctx, "INSERT INTO partnerkit_event_counter AS c (business_id, last) VALUES", counters,
			" ON CONFLICT (business_id) DO UPDATE SET last = c.last + excluded.last RETURNING business_id, last",
			func(scan func(...any) error) error {
				var business string
				var last int64
				err := scan(&business, &last)
				next[business] = last - counts[business] + 1
				return err
			})
		if err != nil {
			return err
		}
		rows := make([][]any, len(found))
		for i, one := range found {
			rows[i] = []any{one.id, next[one.business]}
			next[one.business]++
		}
		return chunks(rows, func(part [][]any) error {
			// COALESCE keeps PostgreSQL from finding the events by number IS NULL, among those
			// of all businesses, instead of by their ids.
			n, err := tx.on.Exec(ctx, tx.sql.many("UPDATE partnerkit_event SET number = ", " AND COALESCE(number, 0) = 0", len(part), func(n int) string {
				rows := byKey{"id", n, 2}
				return rows.value(1, "BIGINT") + " WHERE " + rows.in()
			}), flat(part)...)
			if err == nil && n != int64(len(part)) {
				err = errStop
			}
			return err
		})
	})
}
