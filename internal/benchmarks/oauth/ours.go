package oauth

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// businesses is how many have installed our app; they consent in turns.
const businesses = 1000

// generous is the limiter that a server has, with limits that no run reaches.
type generous struct{ *ratelimit.Memory }

func (g generous) Check(ctx context.Context, now time.Time, asked ratelimit.Request) (ratelimit.Result, error) {
	for i := range asked.Counters {
		if asked.Counters[i].Limit.Count > 0 {
			asked.Counters[i].Limit.Count = 1_000_000_000
		}
	}
	return g.Memory.Check(ctx, now, asked)
}

// nobody is a host without people: what is measured here needs none.
type nobody struct{}

func (nobody) Session(*http.Request) (identity.Session, bool, error) {
	return identity.Session{}, false, nil
}
func (nobody) SignIn(http.ResponseWriter, *http.Request, string)                  {}
func (nobody) Businesses(context.Context, string) ([]oauthserver.Business, error) { return nil, nil }
func (nobody) IsMember(_ context.Context, _, userID string) (bool, error)         { return userID == user, nil }

// newServer is our server on a store, with limits, lockouts and all.
func newServer(store *sqlstore.Store) (*oauthserver.Server, error) {
	limiter, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	if err != nil {
		return nil, err
	}
	key, err := keyring.NewKey("bench", make([]byte, 32))
	if err != nil {
		return nil, err
	}
	ring, err := keyring.New(key)
	if err != nil {
		return nil, err
	}
	return oauthserver.New(oauthserver.Config{
		Store: store, Host: nobody{}, Keyring: ring, Pages: pages.New(), Limiter: generous{limiter},
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
	app := oauthserver.App{
		ID: id.New(id.App, now), ClientID: clientID, Type: oauthserver.Confidential, Status: oauthserver.AppActive, Origin: oauthserver.OriginConsole,
		Name: "App", OrganizationID: "org_1", Reviewed: true, RedirectURIs: []string{redirectURI}, Scopes: scopes, CreatedAt: now,
	}
	clientSecret := secret.New(secret.ClientSecret)
	err = store.CreateApp(ctx, app, []oauthserver.ClientSecret{{
		ID: id.New(id.Secret, now), AppID: app.ID, Digest: clientSecret.Digest(), Prefix: "pk", CreatedAt: now,
	}})
	if err != nil {
		return nil, err
	}
	var consents atomic.Int64
	return &server{
		name: "ours", token: srv.APIHandler(), path: "/oauth/token", secret: clientSecret.Reveal(), stop: func() {},
		code: func() (string, error) {
			return approve(store, app, fmt.Sprint("biz_", consents.Add(1)%businesses), scopes)
		},
	}, nil
}

// approve is what the consent page does.
func approve(store *sqlstore.Store, app oauthserver.App, business string, scopes identity.Scopes) (string, error) {
	ctx, now := context.Background(), time.Now()
	request := oauthserver.AuthorizationRequest{
		ID: id.New(id.Authorization, now), Digest: secret.New(secret.ConsentRequest).Digest(), AppID: app.ID, RedirectURI: redirectURI,
		CodeChallenge: challenge, Scopes: scopes, CreatedAt: now, ExpiresAt: now.Add(oauthserver.RequestLifetime),
	}
	if err := store.HoldRequest(ctx, request); err != nil {
		return "", err
	}
	code := secret.New(secret.AuthorizationCode)
	approved, err := store.ApproveRequest(ctx, oauthserver.Approval{
		RequestID: request.ID, UserID: user, BusinessID: business, InstallationID: id.New(id.Installation, now), GrantID: id.New(id.Grant, now), Now: now,
		Check:  func(oauthserver.App) oauthserver.ApprovalOutcome { return oauthserver.ApprovalDone },
		Record: func(oauthserver.Approved) []events.Event { return nil },
	}, oauthserver.NewCode{ID: id.New(id.Code, now), Digest: code.Digest(), ExpiresAt: now.Add(time.Hour)})
	switch {
	case err != nil:
		return "", err
	case approved.Outcome != oauthserver.ApprovalDone:
		return "", fmt.Errorf("approval ended with %q", approved.Outcome)
	}
	return code.Reveal(), nil
}
