package sandbox_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"testing"

	"golang.org/x/oauth2"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

// SAND-02, REF-08: what clients do when the response to a refresh is lost. docs/sandbox.md has it
// in a table, with that of openid-client, which internal/e2e/interop tries.
func TestLostResponse_SAND02(t *testing.T) {
	t.Parallel()
	const strict, forgiving = "strict", "with -refresh-retry"
	renewals := map[string]func(s *sandbox, tokens response) (first, second error){
		"x/oauth2":                renewWithStyle(oauth2.AuthStyleInHeader),
		"x/oauth2, auto detect":   renewWithStyle(oauth2.AuthStyleAutoDetect),
		"examples/partner/client": renewWithClient,
	}
	for name, want := range map[string]map[string][2]string{ // of the first and the second call
		"x/oauth2":                {strict: {"no response", "invalid_grant"}, forgiving: {"no response", "new tokens"}},
		"x/oauth2, auto detect":   {strict: {"invalid_grant", "invalid_grant"}, forgiving: {"new tokens", "new tokens"}},
		"examples/partner/client": {strict: {"invalid_grant", "invalid_grant"}, forgiving: {"new tokens", "new tokens"}},
	} {
		for mode, want := range want {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				var flags []string
				if mode == forgiving {
					flags = []string{"-refresh-retry", "1m"}
				}
				s := start(t, program(t), flags...)
				tokens := s.connect()
				s.dev("faults", `{"route": "POST /oauth/token", "loseResponse": true}`)
				first, second := renewals[name](s, tokens)
				if got := [2]string{outcome(first), outcome(second)}; got != want {
					t.Errorf("%q, want %q (%v; %v)", got, want, first, second)
				}
			})
		}
	}
}

// outcome puts the error of a refresh into words.
func outcome(err error) string {
	refused, isRefused := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case err == nil:
		return "new tokens"
	case errors.Is(err, client.ErrReauthorize):
		return "invalid_grant"
	case isRefused:
		return refused.ErrorCode
	}
	return "no response"
}

// renewWithStyle refreshes twice with x/oauth2.
func renewWithStyle(style oauth2.AuthStyle) func(s *sandbox, tokens response) (first, second error) {
	return func(s *sandbox, tokens response) (first, second error) {
		app := oauth2.Config{ClientID: clientID, ClientSecret: clientSecret, Endpoint: oauth2.Endpoint{TokenURL: s.API + "/oauth/token", AuthStyle: style}}
		source := app.TokenSource(context.WithValue(s.Context(), oauth2.HTTPClient, &s.Client), &oauth2.Token{RefreshToken: tokens.RefreshToken})
		_, first = source.Token()
		_, second = source.Token()
		return first, second
	}
}

// renewWithClient refreshes twice with the client of examples/partner, which repeats a request
// without a response by itself.
func renewWithClient(s *sandbox, tokens response) (first, second error) {
	metadata, err := client.Discover(s.Context(), &s.Client, s.API)
	s.must(err)
	file := client.File{Path: filepath.Join(s.TempDir(), "tokens.json")}
	old := client.Tokens{Access: tokens.AccessToken, Refresh: tokens.RefreshToken}
	s.must(file.Save(old))
	app := &client.App{
		Metadata: metadata, ClientID: clientID, ClientSecret: clientSecret, RedirectURL: redirect,
		HTTP: &http.Client{Transport: client.TokenRetry(s.Transport)},
	}
	source, err := client.NewSource(app, file)
	s.must(err)
	_, first = source.Token(s.Context(), old.Access)
	_, second = source.Token(s.Context(), old.Access)
	return first, second
}
