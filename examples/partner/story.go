package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/examples/partner/client"
	"github.com/partnerkit/partnerkit/examples/receiver/inbox"
)

// patience is how long the story waits for a webhook, and for a program that signs
// in; a person gets personTime.
const (
	patience   = 30 * time.Second
	personTime = 10 * time.Minute
)

// story is one run of the app.
type story struct {
	o         options
	out       *transcript
	app       *client.App
	source    *client.Source
	api       client.API
	connector *connector
	person    *person
	hooks     *hooks
	box       *inbox.Inbox
	seen      *arrivals
}

// tell goes through the chapters.
func (s *story) tell(ctx context.Context) error {
	var business string // which the token stands for
	var invoice string
	for _, chapter := range []struct {
		title string
		act   func(ctx context.Context) error
	}{
		{"For whom do we act?", func(ctx context.Context) (err error) { business, err = s.profile(ctx); return err }},
		{"What happened while we were away?", func(ctx context.Context) error { return s.reconcile(ctx, business) }},
		{"A write, safe to repeat, and its webhook", func(ctx context.Context) (err error) { invoice, err = s.invoice(ctx); return err }},
		{"A webhook that we miss", func(ctx context.Context) error { return s.missed(ctx, business) }},
		{"A note of ours on a record of theirs", func(ctx context.Context) error { return s.appData(ctx, invoice) }},
		{"The access token dies under ten calls", s.accessTokenDies},
		{"The grant dies", s.grantDies},
		{"Goodbye", s.goodbye},
	} {
		s.out.say("\n%s", chapter.title)
		err := chapter.act(ctx)
		if errors.Is(err, client.ErrReauthorize) { // it may happen anywhere, and means the same everywhere
			if err = s.ask(ctx); err == nil {
				err = chapter.act(ctx)
			}
		}
		if err != nil {
			return fmt.Errorf("%s %w", chapter.title, err)
		}
	}
	return nil
}

// ask asks the business for access: a user of the business opens our page.
func (s *story) ask(ctx context.Context) error {
	wait := patience
	if s.o.browser {
		wait = personTime
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	select {
	case <-s.connector.connected: // by somebody whom nobody asked
	default:
	}
	if s.o.browser {
		s.out.say("   => open %s/connect and allow", s.o.url)
	} else {
		s.out.say("   => asking %s", s.o.email)
		if err := s.person.connect(ctx, s.o.url+"/connect"); err != nil {
			return fmt.Errorf("connect: %w", err)
		}
	}
	select {
	case <-s.connector.connected:
		return nil
	case <-ctx.Done():
		return errors.New("nobody came to connect the business")
	}
}
