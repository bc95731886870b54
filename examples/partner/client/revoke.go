package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Revoke revokes a token (RFC 7009): an access token alone, or with a refresh token all
// tokens from the same consent. Revoking a token that is no longer valid is not an
// error.
func (a *App) Revoke(ctx context.Context, token string) error {
	form := url.Values{"token": {token}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.RevocationEndpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(url.QueryEscape(a.ClientID), url.QueryEscape(a.ClientSecret)) // RFC 6749 section 2.3.1
	res, err := a.HTTP.Do(r)
	if err != nil {
		return fmt.Errorf("revoke: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("revoke: %s", res.Status)
	}
	return nil
}
