package main

import (
	"context"
	"encoding/json"
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

// loadable is fixtures with everything that is slow or random done: what is left
// is rows.
type loadable struct {
	fixtures
	now    time.Time
	hashes []string // of the users' passwords

	webhooks webhooks.Config // whose Store is that of the transaction
	appData  appdata.Config  // likewise
}

// prepare hashes passwords and makes the secrets that the fixtures leave out.
func (f fixtures) prepare(now time.Time) *loadable {
	l := &loadable{fixtures: f, now: now, hashes: make([]string, len(f.Users))}
	var wg sync.WaitGroup
	turn := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, u := range f.Users {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			l.hashes[i] = hashPassword(u.Password)
		})
	}
	for i, a := range f.Apps {
		if oauthserver.ClientType(a.Type) == oauthserver.Confidential && a.ClientSecret == "" {
			l.Apps[i].ClientSecret = optional(secret.New(secret.ClientSecret).Reveal())
		}
	}
	wg.Wait()
	return l
}

// withFreshSecrets replaces passwords and client secrets, which everybody can
// read in the demo, by random ones.
func (f fixtures) withFreshSecrets() fixtures {
	for i := range f.Users {
		f.Users[i].Password = secret.New("").Reveal()
	}
	for i := range f.Apps {
		f.Apps[i].ClientSecret = ""
		f.Apps[i].Webhooks = nil // they are on this machine
	}
	return f
}

// load writes everything in the transaction; store has joined it.
func (l *loadable) load(ctx context.Context, store *sqlstore.Store, tx storage.Tx) error {
	if err := l.loadPeople(ctx, tx); err != nil {
		return fmt.Errorf("load fixtures: %w", err)
	}
	for _, a := range l.Apps {
		if err := l.loadApp(ctx, store, a); err != nil {
			return fmt.Errorf("load fixtures: app %s: %w", a.ClientID, err)
		}
	}
	if l.origin == demoOrigin {
		for _, b := range l.Businesses {
			if err := ledger.FillDemo(ctx, tx, b.ID, l.now); err != nil {
				return fmt.Errorf("load fixtures: records of %s: %w", b.ID, err)
			}
		}
	}
	_, err := tx.Exec(ctx, "INSERT INTO books_setting (name, value) VALUES ('fixtures', $1)", l.origin)
	return err
}

func (l *loadable) loadPeople(ctx context.Context, tx storage.Tx) error {
	for i, u := range l.Users {
		if _, err := tx.Exec(ctx, "INSERT INTO books_user (id, email, name, password_hash) VALUES ($1, $2, $3, $4)",
			u.ID, normalEmail(u.Email), u.Name, l.hashes[i]); err != nil {
			return fmt.Errorf("user %s: %w", u.ID, err)
		}
	}
	for i, o := range l.Organizations {
		if _, err := tx.Exec(ctx, "INSERT INTO books_organization (id, name, position) VALUES ($1, $2, $3)", o.ID, o.Name, i); err != nil {
			return fmt.Errorf("organization %s: %w", o.ID, err)
		}
		for _, userID := range o.Members {
			if _, err := tx.Exec(ctx, "INSERT INTO books_organization_member (organization_id, user_id) VALUES ($1, $2)", o.ID, userID); err != nil {
				return fmt.Errorf("member %s of %s: %w", userID, o.ID, err)
			}
		}
	}
	for i, b := range l.Businesses {
		if err := loadBusiness(ctx, tx, b, i); err != nil {
			return fmt.Errorf("business %s: %w", b.ID, err)
		}
	}
	return nil
}

func loadBusiness(ctx context.Context, tx storage.Tx, b fixtureBusiness, position int) error {
	sandboxOf, plan, currency := b.OrganizationID, b.Plan, b.Currency
	if b.Sandbox != nil && !*b.Sandbox {
		sandboxOf = ""
	}
	if plan == "" {
		plan = "PAID"
	}
	if currency == "" {
		currency = "EUR"
	}
	if _, err := tx.Exec(ctx, `INSERT INTO books_business (id, name, sandbox_of, plan, invoice_limit, turnover_limit, currency, position)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		b.ID, b.Name, string(sandboxOf), string(plan), b.InvoiceLimit, b.TurnoverLimit, string(currency), position); err != nil {
		return err
	}
	for _, m := range b.Members {
		var own *string
		if m.Permissions != nil {
			text, err := json.Marshal(m.Permissions)
			if err != nil {
				return err
			}
			own = new(string(text))
		}
		if _, err := tx.Exec(ctx, "INSERT INTO books_member (business_id, user_id, role, permissions) VALUES ($1, $2, $3, $4)",
			b.ID, m.UserID, string(m.Role), own); err != nil {
			return fmt.Errorf("member %s: %w", m.UserID, err)
		}
	}
	return nil
}

func (l *loadable) loadApp(ctx context.Context, store *sqlstore.Store, a fixtureApp) error {
	app := oauthserver.App{
		ID: a.ID, ClientID: a.ClientID, Type: oauthserver.ClientType(a.Type), Status: oauthserver.AppActive,
		Origin: oauthserver.OriginConsole, Name: a.Name, OrganizationID: a.OrganizationID, Reviewed: a.Reviewed,
		RedirectURIs: a.RedirectURIs, Scopes: a.Scopes.Scopes, PinnedVersion: string(a.PinnedVersion),
		AppURL: string(a.AppURL), CreatedAt: l.now,
	}
	var secrets []oauthserver.ClientSecret
	if a.ClientSecret != "" {
		secrets = []oauthserver.ClientSecret{{
			ID: id.New(id.Secret, l.now), AppID: a.ID, Digest: secret.DigestOf(string(a.ClientSecret)), CreatedAt: l.now,
		}}
	}
	if err := store.CreateApp(ctx, app, secrets); err != nil {
		return err
	}
	if err := l.loadWebhooks(ctx, store, a); err != nil {
		return err
	}
	return l.loadFields(ctx, store, a)
}

func (l *loadable) loadFields(ctx context.Context, store *sqlstore.Store, a fixtureApp) error {
	if len(a.AppDataFields) == 0 {
		return nil
	}
	cfg := l.appData
	cfg.Store = store
	data, err := appdata.New(cfg)
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

func (l *loadable) loadWebhooks(ctx context.Context, store *sqlstore.Store, a fixtureApp) error {
	if len(a.Webhooks) == 0 {
		return nil
	}
	cfg := l.webhooks
	cfg.Store, cfg.MaxWebhooks = store, len(a.Webhooks)
	hooks, err := webhooks.New(cfg)
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
