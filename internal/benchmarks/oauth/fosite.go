package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/storage"
	"golang.org/x/crypto/bcrypt"
)

// sha256Hasher keeps secrets as ours does: they are random and need no slow hash.
type sha256Hasher struct{}

func (sha256Hasher) Hash(_ context.Context, data []byte) ([]byte, error) {
	sum := sha256.Sum256(data)
	return sum[:], nil
}

func (h sha256Hasher) Compare(ctx context.Context, hash, data []byte) error {
	sum, err := h.Hash(ctx, data)
	if err == nil && subtle.ConstantTimeCompare(sum, hash) != 1 {
		err = errors.New("the secret is wrong")
	}
	return err
}

// bcryptCost is fosite's default.
const bcryptCost = 12

// newFosite is fosite on its memory store, with PKCE; hasher nil means its default.
func newFosite(name string, hasher fosite.Hasher) (*server, error) {
	const secret = "a-secret_of-the-app"
	config := &fosite.Config{
		GlobalSecret: []byte("some-cool-secret-that-is-32bytes"), AccessTokenLifespan: time.Hour, RefreshTokenLifespan: 30 * 24 * time.Hour,
		EnforcePKCE: true, ClientSecretsHasher: hasher,
	}
	var kept []byte
	var err error
	if hasher == nil {
		kept, err = bcrypt.GenerateFromPassword([]byte(secret), bcryptCost)
	} else {
		kept, err = hasher.Hash(context.Background(), []byte(secret))
	}
	if err != nil {
		return nil, err
	}
	store := storage.NewMemoryStore()
	store.Clients[clientID] = &fosite.DefaultClient{
		ID: clientID, Secret: kept, RedirectURIs: []string{redirectURI}, ResponseTypes: []string{"code"},
		GrantTypes: []string{"authorization_code", "refresh_token"}, Scopes: []string{"offline", "invoices"},
	}
	provider := compose.Compose(config, store, compose.NewOAuth2HMACStrategy(config),
		compose.OAuth2AuthorizeExplicitFactory, compose.OAuth2RefreshTokenGrantFactory, compose.OAuth2PKCEFactory)
	return &server{
		name: name, path: "/oauth/token", secret: secret, stop: func() {},
		token: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := r.Context()
			request, err := provider.NewAccessRequest(ctx, r, new(fosite.DefaultSession))
			if err != nil {
				provider.WriteAccessError(ctx, w, request, err)
				return
			}
			response, err := provider.NewAccessResponse(ctx, request)
			if err != nil {
				provider.WriteAccessError(ctx, w, request, err)
				return
			}
			provider.WriteAccessResponse(ctx, w, request, response)
		}),
		code: func() (string, error) {
			ctx := context.Background()
			r, err := http.NewRequest(http.MethodGet, "/auth?"+url.Values{
				"client_id": {clientID}, "redirect_uri": {redirectURI}, "response_type": {"code"}, "scope": {"offline invoices"},
				"state": {"some-state-of-the-app"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"},
			}.Encode(), http.NoBody)
			if err != nil {
				return "", err
			}
			request, err := provider.NewAuthorizeRequest(ctx, r)
			if err != nil {
				return "", err
			}
			request.GrantScope("offline")
			request.GrantScope("invoices")
			response, err := provider.NewAuthorizeResponse(ctx, request, &fosite.DefaultSession{Subject: user})
			if err != nil {
				return "", err
			}
			return response.GetCode(), nil
		},
	}, nil
}
