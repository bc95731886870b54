package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/examples/books"
	"github.com/partnerkit/partnerkit/examples/server/fixtures"
	"github.com/partnerkit/partnerkit/webhooks"
)

// readFixtures reads -fixtures, or the demo. Outside development mode the demo gets
// passwords and secrets that are not in the source.
func (o options) readFixtures(dev bool) (fixtures.Data, error) {
	if o.fixtures == "" {
		data, err := fixtures.Demo()
		if !dev {
			data = data.WithFreshSecrets()
		}
		return data, err
	}
	text, err := os.ReadFile(o.fixtures)
	if err != nil {
		return fixtures.Data{}, fmt.Errorf("-fixtures: %w", err)
	}
	data, err := fixtures.Parse(text, o.fixtures)
	if err != nil {
		return data, fmt.Errorf("-fixtures %s: %w", o.fixtures, err)
	}
	return data, nil
}

// fill loads the fixtures into an empty database, and returns those whose sign-ins and
// secrets may be shown: just loaded, or the demo, whose secrets are public.
func (p parts) fill(ctx context.Context, data fixtures.Data) (shown *fixtures.Data, err error) {
	if ahead := p.clock.Ahead(); ahead > 0 {
		p.log.WarnContext(ctx, "the clock of this database was moved", "ahead", ahead)
	}
	origin, err := p.books.Origin(ctx)
	if errors.Is(err, books.ErrAbsent) {
		loaded, loading := data.Load(ctx, fixtures.LoadConfig{
			Books: p.books, Now: p.clock.Now(),
			Webhooks: webhooks.Config{Keyring: p.ring, Clock: p.clock, Options: webhooks.Options{AllowLoopback: p.dev}},
			AppData:  appdata.Config{Records: p.books.Ledger(), Clock: p.clock},
		})
		if loading != nil {
			return nil, loading
		}
		debug.FreeOSMemory() // hashing passwords took more than anything that follows
		if loaded {
			return &data, nil
		}
		origin, err = p.books.Origin(ctx) // another node was faster
	}
	if err == nil && p.dev && origin == fixtures.DemoOrigin && data.IsDemo() {
		return &data, nil
	}
	return nil, err
}
