package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// profile is for whom the program acts.
type profile struct {
	User     struct{ Name string }
	Business struct{ Name string }
}

// greet makes the one call that this program is about.
func (s *service) greet(ctx context.Context, accessToken string, say func(string, ...any)) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.APIBaseURL+"/profile", nil) //nolint:gosec // where the service says that it is
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+accessToken)
	var p profile
	if err := s.do(r, &p); err != nil {
		return fmt.Errorf("GET /profile: %w", err)
	}
	say("You are %s of %s.", printable(p.User.Name), printable(p.Business.Name))
	return nil
}

// revoke ends the tokens: the refresh token takes the access token with it.
func (s *service) revoke(ctx context.Context, refreshToken string) error {
	form := url.Values{"token": {refreshToken}, "token_type_hint": {"refresh_token"}}
	if err := s.post(ctx, s.RevocationEndpoint, form, &struct{}{}); err != nil {
		return fmt.Errorf("give the tokens back: %w", err)
	}
	return nil
}
