package client

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
)

// App is a confidential app at one authorization server. It is safe for concurrent
// use.
type App struct {
	Metadata
	ClientID, ClientSecret string
	RedirectURL            string
	Scopes                 []string
	// HTTP sends to the token and revocation endpoints; see [TokenRetry].
	HTTP *http.Client
}

// config names how the secret travels: guessing would send it twice, and a wrong
// guess counts as a failed authentication.
func (a *App) config() *oauth2.Config {
	return &oauth2.Config{
		ClientID: a.ClientID, ClientSecret: a.ClientSecret, RedirectURL: a.RedirectURL, Scopes: a.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: a.AuthorizationEndpoint, TokenURL: a.TokenEndpoint, AuthStyle: oauth2.AuthStyleInHeader},
	}
}

// What [App.Finish] refuses.
var (
	ErrState  = errors.New("the state is not the one of this attempt")
	ErrDenied = errors.New("the business did not allow it")
)

// Finish takes the query that the browser brought back, and redeems the code. A
// state that is not the attempt's is refused before anything is sent: another person's
// code must not end up here.
func (a *App) Finish(ctx context.Context, t Attempt, query url.Values) (Tokens, error) {
	if t.State == "" || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(t.State)) != 1 {
		return Tokens{}, ErrState
	}
	if problem := query.Get("error"); problem != "" {
		return Tokens{}, fmt.Errorf("%w: %q", ErrDenied, problem)
	}
	asked := time.Now()
	token, err := a.config().Exchange(a.withHTTP(ctx), query.Get("code"), oauth2.VerifierOption(t.verifier))
	if err != nil {
		return Tokens{}, fmt.Errorf("redeem the code: %w", err)
	}
	return newTokens(token, asked)
}

// Refresh renews both tokens; the refresh token is used up by it.
func (a *App) Refresh(ctx context.Context, refreshToken string) (Tokens, error) {
	asked := time.Now()
	token, err := a.config().TokenSource(a.withHTTP(ctx), &oauth2.Token{RefreshToken: refreshToken}).Token()
	if err != nil {
		return Tokens{}, fmt.Errorf("refresh: %w", err)
	}
	return newTokens(token, asked)
}

func (a *App) withHTTP(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, a.HTTP)
}

// isDead reports whether the service said that the grant is over, for good.
func isDead(err error) bool { return hasCode(err, "invalid_grant") }

// isPaused reports whether the service said that the grant cannot be used now.
func isPaused(err error) bool { return hasCode(err, "access_denied") }

func hasCode(err error, code string) bool {
	var refused *oauth2.RetrieveError
	return errors.As(err, &refused) && refused.ErrorCode == code
}
