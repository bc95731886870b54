package partnerkit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// part is a loop of a feature. It blocks until its context ends, and then leaves
// nothing half-done.
type part struct {
	name string
	run  func(ctx context.Context) error
}

// parts are the loops in the order in which they stop. What comes later serves
// what comes earlier: who records is stopped before who counts.
func (p *Platform) parts() []part {
	parts := []part{
		{"oauth server", p.oauth.Run},
		{"idempotency keys", p.keys.Run},
		{"events", p.events.Run},
	}
	if p.data != nil {
		parts = append(parts, part{"app data", p.data.Run})
	}
	return append(parts, part{"webhooks", p.hooks.Run}, part{"analytics", p.calls.Run})
}

// Run does the work that no request causes, and blocks. It returns nil after ctx
// has ended and everything has stopped, one part after the other in a fixed
// order; when a part fails it stops the others too and returns that error.
//
// End ctx after the HTTP servers have shut down, so that requests which are under
// way find everything running. The database is the host's: close it after Run
// has returned.
func (p *Platform) Run(ctx context.Context) error {
	return runInOrder(ctx, p.parts())
}

// answersWithin is how long Settle waits for receivers.
const answersWithin = time.Second

// Settle waits until what is due now has happened: events are planned, and every
// delivery that is due has been attempted or is being sent; for those it waits a
// second at most. It is for tests and for moving the clock in development, while Run
// runs.
func (p *Platform) Settle(ctx context.Context) error {
	p.oauth.Tidy(ctx)
	if err := p.hooks.Settle(ctx); err != nil {
		return err
	}
	return p.hooks.AwaitAnswers(ctx, answersWithin)
}

func runInOrder(ctx context.Context, parts []part) error {
	type running struct {
		part
		stop context.CancelFunc
		done chan error
	}
	failed := make(chan struct{}, len(parts))
	all := make([]running, 0, len(parts))
	for _, one := range parts {
		// Without ctx's end: each part ends when it is its turn.
		own, stop := context.WithCancel(context.WithoutCancel(ctx))
		started := running{part: one, stop: stop, done: make(chan error, 1)}
		go func() {
			err := one.run(own)
			if own.Err() == nil {
				if err == nil {
					err = errors.New("ended by itself")
				}
				failed <- struct{}{}
			} else if errors.Is(err, context.Canceled) {
				err = nil
			}
			started.done <- err
		}()
		all = append(all, started)
	}

	select {
	case <-ctx.Done():
	case <-failed:
	}
	var errs []error
	for _, one := range all {
		one.stop()
		if err := <-one.done; err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", one.name, err))
		}
	}
	return errors.Join(errs...)
}
