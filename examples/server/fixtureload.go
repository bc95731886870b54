package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/examples/books/ledger"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

// LoadConfig is where [Data.Load] puts the data. All of it is required.
type LoadConfig struct {
	Books    *Books
	Now      time.Time       // when apps were created
	Webhooks webhooks.Config // Load sets Store and MaxWebhooks
	AppData  appdata.Config  // Load sets Store
}

// Load fills an empty database, as a whole or not at all. It reports false when the
// database was not empty. Confidential apps without a client secret get one, which is then
// in d.Apps.
func (d Data) Load(ctx context.Context, cfg LoadConfig) (loaded bool, err error) {
	hashes := d.prepare()
	return cfg.Books.Fill(ctx, d.origin, func(store *sqlstore.Store, tx storage.Tx) error {
		if err := d.loadPeople(ctx, tx, hashes); err != nil {
			return fmt.Errorf("load fixtures: %w", err)
		}
		for _, a := range d.Apps {
			if err := cfg.loadApp(ctx, store, a); err != nil {
				return fmt.Errorf("load fixtures: app %s: %w", a.ClientID, err)
			}
		}
		if !d.IsDemo() {
			return nil
		}
		for _, b := range d.Businesses {
			if err := ledger.FillDemo(ctx, tx, b.ID, cfg.Now); err != nil {
				return fmt.Errorf("load fixtures: records of %s: %w", b.ID, err)
			}
		}
		return nil
	})
}

// prepare does what is slow or random before the transaction: it hashes passwords, and
// makes the secrets that the fixtures leave out.
func (d Data) prepare() (hashes []string) {
	hashes = make([]string, len(d.Users))
	var wg sync.WaitGroup
	turn := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, u := range d.Users {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			hashes[i] = HashPassword(u.Password)
		})
	}
	for i, a := range d.Apps {
		if oauthserver.ClientType(a.Type) == oauthserver.Confidential && a.ClientSecret == "" {
			d.Apps[i].ClientSecret = Optional(secret.New(secret.ClientSecret).Reveal())
		}
	}
	wg.Wait()
	return hashes
}

// WithFreshSecrets replaces passwords and client secrets, which everybody can read in the
// demo, by random ones. It changes d.
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

func (d Data) loadPeople(ctx context.Context, tx storage.Tx, hashes []string) error {
	for i, u := range d.Users {
		if err := AddUser(ctx, tx, User{ID: u.ID, Email: u.Email, Name: u.Name, PasswordHash: hashes[i]}); err != nil {
			return fmt.Errorf("user %s: %w", u.ID, err)
		}
	}
	for i, o := range d.Organizations {
		if err := AddOrganization(ctx, tx, Organization(o), i); err != nil {
			return fmt.Errorf("organization %s: %w", o.ID, err)
		}
	}
	for i, b := range d.Businesses {
		if err := AddBusiness(ctx, tx, b.withDefaults(), i); err != nil {
			return fmt.Errorf("business %s: %w", b.ID, err)
		}
	}
	return nil
}

// withDefaults returns the business with what the fixtures leave out.
func (b fixtureBusiness) withDefaults() Business {
	full := Business{
		ID: b.ID, Name: b.Name, SandboxOf: string(b.OrganizationID), Plan: cmp.Or(string(b.Plan), "PAID"),
		InvoiceLimit: b.InvoiceLimit, TurnoverLimit: b.TurnoverLimit, Currency: cmp.Or(string(b.Currency), "EUR"),
	}
	if b.Sandbox != nil && !*b.Sandbox {
		full.SandboxOf = ""
	}
	for _, m := range b.Members {
		full.Members = append(full.Members, Member(m))
	}
	return full
}

func (cfg LoadConfig) loadApp(ctx context.Context, store *sqlstore.Store, a fixtureApp) error {
	app := oauthserver.App{
		ID: a.ID, ClientID: a.ClientID, Type: oauthserver.ClientType(a.Type), Status: oauthserver.AppActive,
		Origin: oauthserver.OriginConsole, Name: a.Name, OrganizationID: a.OrganizationID, Reviewed: a.Reviewed,
		RedirectURIs: a.RedirectURIs, Scopes: a.Scopes.Scopes, PinnedVersion: string(a.PinnedVersion),
		AppURL: string(a.AppURL), CreatedAt: cfg.Now,
	}
	var secrets []oauthserver.ClientSecret
	if a.ClientSecret != "" {
		secrets = []oauthserver.ClientSecret{{
			ID: id.New(id.Secret, cfg.Now), AppID: a.ID, Digest: secret.DigestOf(string(a.ClientSecret)), CreatedAt: cfg.Now,
		}}
	}
	if err := store.CreateApp(ctx, app, secrets); err != nil {
		return err
	}
	if err := cfg.loadWebhooks(ctx, store, a); err != nil {
		return err
	}
	return cfg.loadFields(ctx, store, a)
}

func (cfg LoadConfig) loadFields(ctx context.Context, store *sqlstore.Store, a fixtureApp) error {
	if len(a.AppDataFields) == 0 {
		return nil
	}
	target := cfg.AppData
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

// declaration is what a developer would say about the field.
func (f fixtureField) declaration() appdata.Declaration {
	d := appdata.Declaration{
		ResourceType: appdata.Given(f.ResourceType), Key: appdata.Given(f.Key), Type: appdata.Given(appdata.Type(f.Type)),
		MinLength: given(f.MinLength), MaxLength: given(f.MaxLength), Min: given(f.Min), Max: given(f.Max), Decimals: given(f.Decimals),
		Label: given(f.Label.pointer()), From: given(f.From.pointer()), To: given(f.To.pointer()),
	}
	if f.Choices != nil {
		d.Choices = appdata.Given(f.Choices)
	}
	return d
}

// given is a member that may be absent.
func given[T any](value *T) appdata.Member[T] {
	if value == nil {
		return appdata.Member[T]{}
	}
	return appdata.Given(*value)
}

func (cfg LoadConfig) loadWebhooks(ctx context.Context, store *sqlstore.Store, a fixtureApp) error {
	if len(a.Webhooks) == 0 {
		return nil
	}
	target := cfg.Webhooks
	target.Store, target.MaxWebhooks = store, len(a.Webhooks)
	hooks, err := webhooks.New(target)
	if err != nil {
		return err
	}
	for _, w := range a.Webhooks {
		if _, _, err := hooks.Create(ctx, webhooks.NewWebhook{
			AppID: a.ID, ID: w.ID, URL: w.URL, Events: w.Events, Secret: string(w.Secret), Disabled: w.Enabled != nil && !*w.Enabled,
		}); err != nil {
			return fmt.Errorf("webhook %s: %w", w.ID, err)
		}
	}
	return nil
}
