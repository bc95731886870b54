package main

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

// accessTokenDies gives the access token back, as a leak would make one do: ten
// calls are refused, and one refresh serves them all.
func (s *story) accessTokenDies(ctx context.Context) error {
	tokens, ok := s.source.Tokens()
	if !ok {
		return client.ErrReauthorize
	}
	if err := s.app.Revoke(ctx, tokens.Access); err != nil {
		return err
	}
	var calls sync.WaitGroup
	failures := make([]error, 10)
	for i := range failures {
		calls.Go(func() { failures[i] = s.api.Do(ctx, client.Call{Method: http.MethodGet, Path: "/profile"}) })
	}
	calls.Wait()
	return errors.Join(failures...)
}

// grantDies gives the whole grant back, which is what the app sees when the business
// takes it: 401, then invalid_grant, and nothing helps but asking again.
func (s *story) grantDies(ctx context.Context) error {
	tokens, ok := s.source.Tokens()
	if !ok {
		return client.ErrReauthorize
	}
	if err := s.app.Revoke(ctx, tokens.Refresh); err != nil {
		return err
	}
	_, err := s.profile(ctx)
	if !errors.Is(err, client.ErrReauthorize) {
		return errors.Join(errors.New("a dead grant should end in asking again"), err)
	}
	if err := s.ask(ctx); err != nil {
		return err
	}
	_, err = s.profile(ctx)
	return err
}

// goodbye keeps the tokens for the next run, unless the app is to disconnect.
func (s *story) goodbye(ctx context.Context) error {
	if s.o.disconnect {
		return s.source.Disconnect(ctx)
	}
	s.out.say("   => the tokens are stored for the next run; -disconnect gives them back")
	return nil
}
