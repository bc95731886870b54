package seed

import (
	"context"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/optional"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

// Target is the platform that apps are loaded into. All of it but Records is required.
type Target struct {
	Store    *sqlstore.Store
	Webhooks webhooks.Config // LoadApps sets Store and MaxWebhooks
	AppData  appdata.Config  // LoadApps sets Store
	Now      time.Time       // when apps were created
}

// LoadApps adds the apps in the caller's transaction.
func (d Data) LoadApps(ctx context.Context, tx storage.Tx, to Target) error {
	store := to.Store.WithTx(tx)
	for _, a := range d.Apps {
		if err := to.loadApp(ctx, store, a); err != nil {
			return fmt.Errorf("load fixtures: app %s: %w", a.ClientID, err)
		}
	}
	return nil
}

// MakeSecrets makes the secrets that confidential apps lack. It changes d.
func (d Data) MakeSecrets() {
	for i, a := range d.Apps {
		if partner.ClientType(a.Type) == partner.Confidential && a.ClientSecret == "" {
			d.Apps[i].ClientSecret = Optional(secret.New(secret.ClientSecret).Reveal())
		}
	}
}

// WithFreshSecrets replaces passwords and client secrets, which are public in the demo, with
// random ones. It changes d.
func (d Data) WithFreshSecrets() Data {
	for i := range d.Users {
		d.Users[i].Password = secret.New("").Reveal()
	}
	for i := range d.Apps {
		d.Apps[i].ClientSecret = ""
		d.Apps[i].Webhooks = nil // they are on this machine
	}
	return d
}

func (to Target) loadApp(ctx context.Context, store *sqlstore.Store, a App) error {
	app := partner.App{
		ID: a.ID, ClientID: a.ClientID, Type: partner.ClientType(a.Type), Status: partner.AppActive,
		Origin: partner.OriginConsole, Name: a.Name, OrganizationID: a.OrganizationID, Reviewed: a.Reviewed,
		RedirectURIs: a.RedirectURIs, Scopes: a.Scopes.Scopes, PinnedVersion: string(a.PinnedVersion),
		AppURL: string(a.AppURL), CreatedAt: to.Now, Version: 1,
	}
	var secrets []partner.ClientSecret
	if a.ClientSecret != "" {
		secrets = []partner.ClientSecret{{
			ID: id.New(id.Secret, to.Now), AppID: a.ID, Digest: secret.DigestOf(string(a.ClientSecret)), CreatedAt: to.Now,
		}}
	}
	if _, err := store.RegisterApp(ctx, oauthstore.Registration{App: app, Secrets: secrets, Now: to.Now}); err != nil {
		return err
	}
	if err := to.loadWebhooks(ctx, store, a); err != nil {
		return err
	}
	return to.loadFields(ctx, store, a)
}

func (to Target) loadFields(ctx context.Context, store *sqlstore.Store, a App) error {
	if len(a.AppDataFields) == 0 {
		return nil
	}
	target := to.AppData
	target.Store = store
	data, err := appdata.New(target)
	if err != nil {
		return err
	}
	for _, f := range a.AppDataFields {
		if _, err := data.DeclareField(ctx, a.ID, f.declaration()); err != nil {
			return fmt.Errorf("field %s of %s: %w", f.Key, f.ResourceType, err)
		}
	}
	return nil
}

// declaration returns the field as a developer would declare it.
func (f Field) declaration() appdata.Declaration {
	d := appdata.Declaration{
		ResourceType: optional.Of(f.ResourceType), Key: optional.Of(f.Key), Type: optional.Of(valuestore.Type(f.Type)),
		MinLength: given(f.MinLength), MaxLength: given(f.MaxLength), Min: given(f.Min), Max: given(f.Max), Decimals: given(f.Decimals),
		Label: given(f.Label.pointer()), From: given(f.From.pointer()), To: given(f.To.pointer()),
	}
	if f.Choices != nil {
		d.Choices = optional.Of(appdata.Choices(f.Choices))
	}
	return d
}

// given returns a member that may be absent.
func given[T any](value *T) optional.Member[T] {
	return optional.Member[T]{IsSent: value != nil, Value: value}
}

func (to Target) loadWebhooks(ctx context.Context, store *sqlstore.Store, a App) error {
	if len(a.Webhooks) == 0 {
		return nil
	}
	target := to.Webhooks
	target.Store, target.MaxWebhooks = store, len(a.Webhooks)
	hooks, err := webhooks.New(target)
	if err != nil {
		return err
	}
	for _, w := range a.Webhooks {
		if _, _, err := hooks.Create(ctx, webhooks.NewWebhook{
			AppID: a.ID, ID: w.ID, URL: w.URL, Events: w.Events, Secret: string(w.Secret), Disabled: w.Enabled != nil && !*w.Enabled, Verified: true,
		}); err != nil {
			return fmt.Errorf("webhook %s: %w", w.ID, err)
		}
	}
	return nil
}
