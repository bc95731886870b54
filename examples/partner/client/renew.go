package client

import (
	"context"
	"errors"
	"fmt"
)

// renew is one renewal: ask, store, and only then use. There is one at a time.
func (s *Source) renew(ctx context.Context) error {
	s.mu.Lock()
	began, next, unsaved := s.tokens, s.tokens, s.unsaved
	s.mu.Unlock()
	var refused error
	if !unsaved {
		if next, refused = s.app.Refresh(ctx, began.Refresh); refused != nil && !isDead(refused) {
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
	case refused != nil: // presenting them again changes nothing
		s.tokens, s.unsaved = Tokens{}, false
		return errors.Join(fmt.Errorf("%w: %w", ErrReauthorize, refused), s.store.Delete())
	}
	// The old pair is dead now, stored or not. What could not be stored is kept, and
	// stored by the next call without asking again.
	err := s.store.Save(next)
	s.tokens, s.unsaved = next, err != nil
	return err
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
	s.tokens, s.unsaved = Tokens{}, false
	return s.store.Delete()
}
