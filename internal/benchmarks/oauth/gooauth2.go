package oauth

import (
	"context"
	"net/http"

	"github.com/go-oauth2/oauth2/v4"
	"github.com/go-oauth2/oauth2/v4/manage"
	"github.com/go-oauth2/oauth2/v4/models"
	gooauth2 "github.com/go-oauth2/oauth2/v4/server"
	"github.com/go-oauth2/oauth2/v4/store"
)

// newGoOAuth2 is go-oauth2 on its memory stores. It compares the secret as it is, and
// not at all when a token is refreshed.
func newGoOAuth2() (*server, error) {
	const secret = "a-secret_of-the-app"
	clients := store.NewClientStore()
	if err := clients.Set(clientID, &models.Client{ID: clientID, Secret: secret, Domain: "https://app.example.com"}); err != nil {
		return nil, err
	}
	manager := manage.NewDefaultManager()
	manager.MustTokenStorage(store.NewMemoryTokenStore())
	manager.MapClientStorage(clients)
	srv := gooauth2.NewDefaultServer(manager)
	srv.SetClientInfoHandler(gooauth2.ClientBasicHandler)
	return &server{
		name: "go-oauth2", path: "/oauth/token", secret: secret, stop: func() {},
		token: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _ = srv.HandleTokenRequest(w, r) }),
		code: func() (string, error) {
			made, err := manager.GenerateAuthToken(context.Background(), oauth2.Code, &oauth2.TokenGenerateRequest{
				ClientID: clientID, UserID: user, RedirectURI: redirectURI, Scope: "invoices", CodeChallenge: challenge, CodeChallengeMethod: oauth2.CodeChallengeS256,
			})
			if err != nil {
				return "", err
			}
			return made.GetCode(), nil
		},
	}, nil
}
