package sandbox

import (
	"context"
	"log/slog"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// lookAgain is how often the row of the clock is read when no hint came.
const lookAgain = time.Second

// timekeeper is a clock whose offset is a row, so that it outlives the process
// and is the same on every node.
type timekeeper struct {
	*clock.Offset
	store *sqlstore.Store
	log   *slog.Logger
}

func newTimekeeper(ctx context.Context, store *sqlstore.Store, log *slog.Logger) (*timekeeper, error) {
	ahead, err := store.ClockOffset(ctx)
	if err != nil {
		return nil, err
	}
	offset, err := clock.NewOffset(ahead)
	if err != nil {
		return nil, err
	}
	return &timekeeper{Offset: offset, store: store, log: log}, nil
}

// move takes the clock forward, here and then elsewhere.
func (k *timekeeper) move(ctx context.Context, by time.Duration) error {
	ahead, err := k.store.AdvanceClock(ctx, by)
	if err != nil {
		return err
	}
	k.Raise(ahead)
	return nil
}

// follow keeps up with moves by other nodes until ctx ends.
func (k *timekeeper) follow(ctx context.Context) {
	hints := k.store.Watch(sqlstore.TopicClock)
	defer hints.Stop()
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hints.C:
		case <-tick.C:
		}
		ahead, err := k.store.ClockOffset(ctx)
		if err != nil {
			if ctx.Err() == nil {
				k.log.Warn("reading the clock's offset failed", "err", err)
			}
			continue
		}
		k.Raise(ahead)
	}
}
