package core

import (
	"context"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/clientmetadata"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// AddApp stores a new app, with a secret if the app is confidential and has no keys of its own.
// A registration token is used up and names the organization.
func (c *Core) AddApp(ctx context.Context, app partner.App, token *storage.Digest) (partner.App, secret.Secret, error) {
	var issued secret.Secret
	r := oauthstore.Registration{App: app, Token: token, Now: app.CreatedAt, MaxApps: c.MaxApps}
	if app.Type == partner.Confidential && !clientmetadata.HasKeys(app) {
		var record partner.ClientSecret
		issued, record = NewClientSecret(app.ID, app.CreatedAt)
		r.Secrets = []partner.ClientSecret{record}
	}
	added, err := c.Store.RegisterApp(ctx, r)
	if err == nil {
		c.Tell(ctx, events.Notification{Kind: events.NotifyAppCreated, AppID: added.ID, Detail: added.Name})
	}
	return added, issued, err
}

// TooManyApps is the message to an organization that has as many apps as it may have.
func (c *Core) TooManyApps() string {
	return fmt.Sprintf("an organization has at most %d apps", c.MaxApps)
}

// secretPrefix is how much of a client secret is kept to recognize it: its kind and four
// characters.
const secretPrefix = len("pk_cs_") + 4

// NewClientSecret returns a new secret of an app with its record.
func NewClientSecret(appID string, now time.Time) (secret.Secret, partner.ClientSecret) {
	issued := secret.New(secret.ClientSecret)
	return issued, partner.ClientSecret{
		ID: id.New(id.Secret, now), AppID: appID, Digest: issued.Digest(), Prefix: issued.Reveal()[:secretPrefix], CreatedAt: now,
	}
}
