package partnerkit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// loop is the background work of a feature. It blocks until its context ends, and then
// returns nil unless it failed.
type loop struct {
	name string
	run  func(ctx context.Context) error
}

// loops returns the loops in the order in which they stop. A loop stops before the loops
// that it uses.
func (p *Platform) loops() []loop {
	loops := []loop{
		{"oauth server", p.oauth.Run},
		{"idempotency keys", p.keys.Run},
		{"events", p.events.Run},
	}
	if p.data != nil {
		loops = append(loops, loop{"app data", p.data.Run})
	}
	if p.windows != nil {
		loops = append(loops, loop{"limits", p.windows.Run})
	}
	return append(loops, loop{"webhooks", p.hooks.Run}, loop{"analytics", p.calls.Run}, loop{"notifications", p.told.Run})
}

// Run does the background work and blocks: it plans and sends webhooks, purges old records,
// writes analytics, rotates keys and calls the Notifier. It returns nil after ctx has ended
// and every loop has stopped, one after the other in a fixed order. If a loop fails, Run
// stops the others and returns the error.
//
// The end of ctx is how Run is stopped, so it is no error, as it is for every Run of this
// module: an error is always a failure.
//
// End ctx after the HTTP servers have shut down, so that requests which are under
// way find everything running. The database is the host's: close it after Run
// has returned.
func (p *Platform) Run(ctx context.Context) error {
	return runInOrder(ctx, p.loops())
}

// How long Settle waits for receivers and for the Notifier.
const (
	responsesWithin = time.Second
	notifiedWithin  = time.Second
)

// Settle waits until what is due now has happened: events are planned, and every
// delivery that is due has been attempted or is being sent, and the Notifier has been
// told. It waits up to one second for receivers and for the Notifier. It is for tests and
// for moving the clock in development, while Run runs.
func (p *Platform) Settle(ctx context.Context) error {
	p.oauth.Tidy(ctx)
	if err := p.hooks.Settle(ctx); err != nil {
		return err
	}
	if err := p.hooks.AwaitResponses(ctx, responsesWithin); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, notifiedWithin)
	defer cancel()
	_ = p.told.Settle(ctx) // a Notifier that takes longer delays nothing
	return nil
}

func runInOrder(ctx context.Context, loops []loop) error {
	type running struct {
		loop
		stop context.CancelFunc
		done chan error
	}
	failed := make(chan struct{}, len(loops))
	all := make([]running, 0, len(loops))
	for _, one := range loops {
		// Without the end of ctx: each loop is stopped in its turn.
		own, stop := context.WithCancel(context.WithoutCancel(ctx))
		started := running{loop: one, stop: stop, done: make(chan error, 1)}
		go func() {
			err := one.run(own)
			if own.Err() == nil {
				if err == nil {
					err = errors.New("ended unexpectedly")
				}
				failed <- struct{}{}
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
