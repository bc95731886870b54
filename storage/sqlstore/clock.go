package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

// TopicClock has news when the clock was moved.
const TopicClock = "clock"

// maxClockOffset keeps the sum of all moves within a time.Duration.
const maxClockOffset = 200 * 365 * 24 * time.Hour

// ClockOffset returns how far the clock of development mode was moved ahead of
// the real time; nothing, at first.
func (s *Store) ClockOffset(ctx context.Context) (time.Duration, error) {
	var ms int64
	err := s.read(ctx, "SELECT offset_ms FROM partnerkit_clock WHERE id = 1", nil, &ms)
	if errors.Is(err, storage.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("clock offset: %w", err)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// AdvanceClock moves the clock forward and returns how far it is ahead then.
// Moves at the same time add up.
func (s *Store) AdvanceClock(ctx context.Context, by time.Duration) (time.Duration, error) {
	if by < 0 {
		return 0, errors.New("advance clock: it only moves forward")
	}
	var ms int64
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		tx.hint(storage.Hint{Topic: TopicClock})
		err := tx.one(ctx, `INSERT INTO partnerkit_clock (id, offset_ms) VALUES (1, $1)
			ON CONFLICT (id) DO UPDATE SET offset_ms = partnerkit_clock.offset_ms + excluded.offset_ms
			RETURNING offset_ms`, []any{by.Milliseconds()}, &ms)
		if err == nil && ms > maxClockOffset.Milliseconds() {
			return errors.New("it cannot be more than 200 years ahead")
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("advance clock: %w", err)
	}
	return time.Duration(ms) * time.Millisecond, nil
}
