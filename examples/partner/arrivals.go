package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/examples/receiver/inbox"
)

// arrivals are the events that were worked on in this run.
type arrivals struct {
	mu     sync.Mutex
	events []inbox.Event
	news   chan struct{} // closed by the next one
}

func newArrivals() *arrivals { return &arrivals{news: make(chan struct{})} }

// work is the work of this app: to remember that it has seen the event.
func (a *arrivals) work(_ context.Context, e inbox.Event) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
	close(a.news)
	a.news = make(chan struct{})
	return nil
}

// await returns the first event that is wanted, once it was worked on.
func (a *arrivals) await(ctx context.Context, within time.Duration, wanted func(inbox.Event) bool) (inbox.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		a.mu.Lock()
		news := a.news
		for _, e := range a.events {
			if wanted(e) {
				a.mu.Unlock()
				return e, nil
			}
		}
		a.mu.Unlock()
		select {
		case <-news:
		case <-ctx.Done():
			return inbox.Event{}, errors.New("the event did not arrive")
		}
	}
}
