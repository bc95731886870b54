package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// renew is one renewal: ask, store, and only then use. There is one at a time.
func (s *Source) renew(ctx context.Context) error {
	s.mu.Lock()
	began, next, unsaved := s.tokens, s.tokens, s.unsaved
	s.mu.Unlock()
	var refused error
	if !unsaved {
		if next, refused = s.app.Refresh(ctx, began.Refresh); refused != nil && !isDead(refused) && !isPaused(refused) {
			return refused
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.tokens.Refresh == "": // disconnected meanwhile
		return ErrReauthorize
	case s.tokens.Refresh != began.Refresh: // a new consent came meanwhile
		return nil
	case refused != nil && isPaused(refused):
		return s.pause(refused)
	case refused != nil: // presenting them again changes nothing
		s.tokens, s.unsaved, s.paused = Tokens{}, false, pausedUntil{}
		return errors.Join(fmt.Errorf("%w: %w", ErrReauthorize, refused), s.store.Delete())
	}
	// The old pair is dead now, stored or not. What could not be stored is kept, and
	// stored by the next call without asking again.
	err := s.store.Save(next)
	s.tokens, s.unsaved, s.paused = next, err != nil, pausedUntil{}
	return err
}

const (
	firstPaused   = time.Minute
	longestPaused = time.Hour
)

// pausedUntil is when to try again after the service refused a refresh for a reason that may
// pass. The zero value is not paused.
type pausedUntil struct {
	err   error
	until time.Time
	wait  time.Duration // before jitter
}

// pause keeps the tokens and puts the next refresh off, longer each time.
func (s *Source) pause(refused error) error {
	wait := min(max(firstPaused, 2*s.paused.wait), longestPaused)
	s.paused = pausedUntil{fmt.Errorf("%w: %w", ErrPaused, refused), time.Now().Add(wait + rand.N(wait/2)), wait}
	return s.paused.err
}

// Disconnect gives everything back that this consent gave, and forgets it.
func (s *Source) Disconnect(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens.Refresh == "" {
		return nil
	}
	if err := s.app.Revoke(ctx, s.tokens.Refresh); err != nil {
		return err
	}
	s.tokens, s.unsaved, s.paused = Tokens{}, false, pausedUntil{}
	return s.store.Delete()
}
