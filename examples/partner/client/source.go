package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// refreshEarly is how long before its end an access token is renewed.
	refreshEarly = 60 * time.Second
	// refreshWithin bounds a refresh, pauses included.
	refreshWithin = 3 * time.Minute
)

// ErrReauthorize says that the service took the access back, or that there never
// was any: only the business can give it, by [App.Begin].
var ErrReauthorize = errors.New("the business has to be asked for access")

// ErrPaused says that the service refuses access for a reason that may pass: the person who
// connected the app may not use it now, or the business has taken back every scope. The
// tokens are kept. [Source.Token] asks again after a pause, which grows from a minute to an
// hour; until then it returns the same error without asking.
var ErrPaused = errors.New("access is paused")

// Source has the tokens of one business. It is safe for concurrent use.
type Source struct {
	app   *App
	store Store

	mu      sync.Mutex
	tokens  Tokens // none: the zero value
	unsaved bool   // the tokens are not stored, and so not to be used
	paused  pausedUntil
	flight  *flight // the renewal under way
}

// flight is one refresh, shared by all callers that need it.
type flight struct {
	done  chan struct{}
	token string
	err   error
}

// NewSource begins with what is stored.
func NewSource(app *App, store Store) (*Source, error) {
	tokens, _, err := store.Load()
	if err != nil {
		return nil, fmt.Errorf("load tokens: %w", err)
	}
	return &Source{app: app, store: store, tokens: tokens}, nil
}

// Put stores the tokens of a new consent and begins to use them.
func (s *Source) Put(t Tokens) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.store.Save(t); err != nil {
		return err
	}
	s.tokens, s.unsaved, s.paused = t, false, pausedUntil{}
	return nil
}

// Tokens returns the tokens in use; false if there are none.
func (s *Source) Tokens() (Tokens, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens, s.tokens.Refresh != "" && !s.unsaved
}

// Token returns an access token that is good for another minute, and is not the one
// that the API refused ("" when it refused none). It renews if it must; every caller that
// comes meanwhile waits for the same renewal. [ErrReauthorize] when the service
// says that the grant is dead; any other error may pass, and [ErrPaused] says that it will
// take a while.
func (s *Source) Token(ctx context.Context, refused string) (string, error) {
	s.mu.Lock()
	f := s.flight
	switch {
	case f != nil: // the token that there is dies with the renewal
	case s.tokens.Refresh == "":
		s.mu.Unlock()
		return "", ErrReauthorize
	case !s.unsaved && s.tokens.Access != refused && time.Now().Add(refreshEarly).Before(s.tokens.ExpiresAt):
		defer s.mu.Unlock()
		return s.tokens.Access, nil
	case time.Now().Before(s.paused.until):
		defer s.mu.Unlock()
		return "", s.paused.err
	default:
		f = &flight{done: make(chan struct{})}
		s.flight = f
		// Not under the caller's context: a caller that gives up in the middle of a
		// renewal would lose both tokens for all callers.
		go s.fly(context.WithoutCancel(ctx), f)
	}
	s.mu.Unlock()
	select {
	case <-f.done:
		return f.token, f.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (s *Source) fly(ctx context.Context, f *flight) {
	ctx, cancel := context.WithTimeout(ctx, refreshWithin)
	defer cancel()
	err := s.renew(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.err = err; err == nil {
		f.token = s.tokens.Access
	}
	s.flight = nil
	close(f.done)
}
