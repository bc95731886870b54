package oauth

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// newZitadel is zitadel/oidc on the memory store of its example. Its responses have an ID
// token, signed with RSA.
func newZitadel() (*server, error) {
	const issuer, secret = "http://localhost:9998/", "a-secret_of-the-app"
	client := storage.WebClient(clientID, secret, redirectURI)
	users := storage.NewUserStore(issuer)
	store := storage.NewStorageWithClients(users, map[string]*storage.Client{clientID: client})
	provider, err := op.NewProvider(&op.Config{CryptoKey: sha256.Sum256([]byte("key")), CodeMethodS256: true, AuthMethodPost: true, GrantTypeRefreshToken: true},
		store, op.StaticIssuer(issuer), op.WithAllowInsecure(), op.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return nil, err
	}
	// visit makes a request and returns where it leads to.
	visit := func(path string) (*url.URL, error) {
		r, err := http.NewRequest(http.MethodGet, issuer+path, http.NoBody)
		if err != nil {
			return nil, err
		}
		w := response{header: http.Header{}}
		provider.ServeHTTP(&w, r)
		if w.status != http.StatusFound {
			return nil, fmt.Errorf("zitadel/oidc: status %d: %s", w.status, w.body)
		}
		return url.Parse(w.header.Get("Location"))
	}
	return &server{
		name: "zitadel/oidc", path: "/oauth/token", secret: secret, token: provider, stop: func() {},
		code: func() (string, error) {
			login, err := visit("authorize?" + url.Values{
				"client_id": {clientID}, "redirect_uri": {redirectURI}, "response_type": {"code"}, "scope": {"openid offline_access"},
				"state": {"state"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"},
			}.Encode())
			if err != nil {
				return "", err
			}
			id := login.Query().Get("authRequestID")
			if err := store.CheckUsernamePassword("test-user@localhost", "verysecure", id); err != nil {
				return "", err
			}
			back, err := visit("authorize/callback?id=" + url.QueryEscape(id))
			if err != nil {
				return "", err
			}
			return back.Query().Get("code"), nil
		},
	}, nil
}
