package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// sqlOAuthCases need what only sqlstore has.
var sqlOAuthCases = []testCase[*Env]{
	{"Registration under faults", func(t *testing.T, e *Env) {
		var digest oauthserver.Digest
		var app oauthserver.App
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) {
				digest = secret.New(secret.RegistrationToken).Digest()
				must(t, e.CreateRegistrationToken(t.Context(), oauthserver.RegistrationToken{ID: id.New(id.RegistrationToken, noon), Digest: digest, OrganizationID: "org_1", CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)}))
				app = oauthserver.App{ID: id.New(id.App, noon), ClientID: id.New(id.Client, noon), Type: oauthserver.Confidential, Status: oauthserver.AppActive, Origin: oauthserver.OriginRegistered, Scopes: allScopes, CreatedAt: noon}
			},
			Act: func(ctx context.Context) error {
				record := oauthserver.ClientSecret{ID: id.New(id.Secret, noon), AppID: app.ID, Digest: secret.DigestOf("s"), Prefix: "s", CreatedAt: noon}
				_, err := e.RegisterApp(ctx, oauthserver.Registration{App: app, Secrets: []oauthserver.ClientSecret{record}, Token: &digest, Now: noon, MaxApps: 1000})
				return err
			},
			Check: func(t *testing.T, happened bool) {
				_, err := e.App(t.Context(), app.ID)
				used := e.count(t, "SELECT COUNT(*) FROM partnerkit_registration_token WHERE digest = $1 AND used_at IS NOT NULL", digest.Bytes())
				if (err == nil) != happened || (used == 1) != happened {
					t.Errorf("happened %v: app %v, %d tokens used", happened, err, used)
				}
			},
		})
	}},
}
