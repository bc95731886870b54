package partnerkit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/internal/serving"
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
	loops = append(loops, loop{"webhooks", p.hooks.Run}, loop{"analytics", p.calls.Run}, loop{"notifications", p.told.Run})
	if store, ok := p.cfg.Store.(interface{ Run(context.Context) error }); ok {
		loops = append(loops, loop{"store", store.Run})
	}
	return loops
}

// Run does the background work and blocks: it plans and sends webhooks, purges old records,
// writes analytics, rotates keys, calls the Notifier and runs the store. It returns nil after ctx has ended
// and every loop has stopped, one after the other in a fixed order. If a loop fails, Run
// stops the others and returns the error.
//
// The end of ctx is how Run is stopped, so it is no error, as it is for every Run of this
// module: an error is always a failure.
//
// End ctx after the HTTP servers have shut down, so that requests which are under way find
// everything running; [Platform.Serve] does. The database is the host's: close it after Run has
// returned.
func (p *Platform) Run(ctx context.Context) error {
	return runInOrder(ctx, p.loops())
}

// Serve listens on the Addr of each server, serves, and does the work of [Platform.Run], until
// ctx ends or a server fails. Then it stops in order: it finishes the requests under way, within
// 15 seconds, and then ends Run. It returns nil if ctx ended and nothing failed. Close the store
// afterwards.
//
// The servers are those of [Platform.API] and [Platform.App], of handlers in front of them, and
// of anything else, such as metrics. Serve changes the servers: timeouts that are zero get a
// default, so that slow clients cannot keep connections open. A server with a TLSConfig speaks
// TLS. Behind a load balancer, let it stop sending new requests first.
func (p *Platform) Serve(ctx context.Context, servers ...*http.Server) error {
	sites, err := serving.Listen(ctx, servers...)
	if err != nil {
		return fmt.Errorf("partnerkit: %w", err)
	}
	return serving.Run(ctx, p.cfg.Logger, p.Run, sites...)
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
