package console

import (
	"context"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// SandboxBusinesses lists the sandbox businesses of the app's organization to which the actor
// may connect apps. Its error is a 404 of apierror.
func (c *Console) SandboxBusinesses(ctx context.Context, by Actor, appID string) ([]oauthserver.Business, error) {
	app, err := c.App(ctx, by, appID)
	if err != nil {
		return nil, err
	}
	return c.cfg.OAuth.SandboxBusinesses(ctx, app, by.userID)
}

// SandboxToken connects an app to a sandbox business of its organization and returns an access
// token, for the only time; see oauthserver.Server.SandboxToken. Its error is one of apierror:
// 404, 403 for a console token or a business to which the actor may not connect apps, 400 for
// an app without scopes or one that is not active.
func (c *Console) SandboxToken(ctx context.Context, by Actor, appID, businessID string) (oauthserver.SandboxToken, error) {
	app, err := c.App(ctx, by, appID)
	switch {
	case err != nil:
		return oauthserver.SandboxToken{}, err
	case by.token != "":
		return oauthserver.SandboxToken{}, apierror.Forbidden("A console token cannot get tokens of an app")
	case app.Status == partner.AppDeactivated:
		return oauthserver.SandboxToken{}, codes.AppDeactivated.New()
	case !app.IsUsable():
		return oauthserver.SandboxToken{}, apierror.Invalid("The app is suspended, so that it gets no tokens")
	case app.Scopes.IsEmpty():
		return oauthserver.SandboxToken{}, apierror.Invalid("The app has no scopes. Add scopes in its settings first")
	}
	return c.cfg.OAuth.SandboxToken(ctx, app, identity.Session{UserID: by.userID}, businessID)
}
