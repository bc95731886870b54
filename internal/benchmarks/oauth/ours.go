package oauth

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// businesses is how many have installed our app; they consent in turns.
const businesses = 1000

// newServer is our server on a store, with limits, lockouts and all.
func newServer(store *sqlstore.Store) (*oauthserver.Server, error) {
	limiter, err := fixture.NewUnreached()
	if err != nil {
		return nil, err
	}
	return oauthserver.New(oauthserver.Config{
		Store: store, Host: fixture.OpenHost{}, Keyring: fixture.Keyring(0), Pages: pages.New(), Limiter: limiter,
		APIURL: "https://api.example.com", AppURL: "https://app.example.net",
	})
}

// newOurs is our server with an app.
func newOurs(store *sqlstore.Store) (*server, error) {
	srv, err := newServer(store)
	if err != nil {
		return nil, err
	}
	ctx, now := context.Background(), time.Now()
	scopes := identity.MustScopes("invoices:read", "customers:read")
	app := fixture.App(now, scopes)
	app.ClientID, app.Type, app.RedirectURIs = clientID, partner.Confidential, []string{redirectURI}
	secret, text := fixture.Secret(app)
	err = fixture.AddApp(ctx, store, app, secret)
	if err != nil {
		return nil, err
	}
	var consents atomic.Int64
	return &server{
		name: "ours", token: srv.APIHandler(), path: "/oauth/token", secret: text, stop: func() {},
		code: func() (string, error) {
			return approve(store, app, fmt.Sprint("biz_", consents.Add(1)%businesses), scopes)
		},
	}, nil
}

// approve returns what the consent page does.
func approve(store *sqlstore.Store, app partner.App, business string, scopes identity.Scopes) (string, error) {
	_, code, err := fixture.Approve(context.Background(), store, fixture.Consent{
		App: app, BusinessID: business, UserID: user, Scopes: scopes, CodeChallenge: challenge, Now: time.Now(),
	})
	return code, err
}
