package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

const appColumns = `a.id, a.client_id, a.type, a.status, a.status_reason, a.origin, a.name, a.organization_id, a.reviewed, a.redirect_uris,
	a.scopes, a.pinned_version, a.app_url, a.metadata, a.document_fetched_at, a.document_fresh_until, a.created_at, a.version,
	a.custom_business_id, a.reviewed_name, a.reviewed_redirect_uris, a.reviewed_scopes, a.reviewed_app_url`

// appRow scans a row of appColumns.
type appRow struct {
	app                          partner.App
	redirectURIs, scopes         string
	fetched, freshUntil, created int64
	reviewedAs                   profileRow
}

// profileRow scans the columns of a profile: name, redirect URIs, scopes and App URL.
type profileRow struct{ name, redirectURIs, scopes, appURL string }

func (r *profileRow) dest() []any { return []any{&r.name, &r.redirectURIs, &r.scopes, &r.appURL} }

func (r *profileRow) value() (partner.Profile, error) {
	p := partner.Profile{Name: r.name, AppURL: r.appURL}
	var err error
	if p.RedirectURIs, err = parseURIs(r.redirectURIs); err != nil {
		return p, err
	}
	p.Scopes, err = parseScopes(r.scopes)
	return p, err
}

// parseURIs is parseList with nil for an empty list.
func parseURIs(text string) ([]string, error) {
	if text == "[]" {
		return nil, nil
	}
	return parseList(text)
}

func profileValues(p partner.Profile) []any {
	return []any{p.Name, list(p.RedirectURIs), p.Scopes.String(), p.AppURL}
}

func (r *appRow) dest() []any {
	own := append(make([]any, 0, 27), // with room for what comes with an app
		// Statuses as plain strings, which need no reflection.
		&r.app.ID, &r.app.ClientID, (*string)(&r.app.Type), (*string)(&r.app.Status), &r.app.StatusReason, (*string)(&r.app.Origin), &r.app.Name, &r.app.OrganizationID, &r.app.Reviewed,
		&r.redirectURIs, &r.scopes, &r.app.PinnedVersion, &r.app.AppURL, &r.app.Metadata, &r.fetched, &r.freshUntil, &r.created, &r.app.Version, &r.app.CustomBusinessID)
	return append(own, r.reviewedAs.dest()...)
}

func (r *appRow) value() (partner.App, error) {
	var err error
	if r.app.RedirectURIs, err = parseList(r.redirectURIs); err != nil {
		return r.app, err
	}
	r.app.DocumentFetchedAt, r.app.DocumentFreshUntil, r.app.CreatedAt = fromMS(r.fetched), fromMS(r.freshUntil), fromMS(r.created)
	if r.app.ReviewedAs, err = r.reviewedAs.value(); err != nil {
		return r.app, err
	}
	return r.app, decoded(stored{r.scopes, &r.app.Scopes})
}

func (t *tx) createApp(ctx context.Context, app partner.App, secrets []partner.ClientSecret) error {
	n, err := t.exec(ctx, `INSERT INTO partnerkit_app (id, client_id, type, status, status_reason, origin, name, organization_id, reviewed, redirect_uris,
			scopes, pinned_version, app_url, metadata, document_fetched_at, document_fresh_until, created_at, version,
			custom_business_id, reviewed_name, reviewed_redirect_uris, reviewed_scopes, reviewed_app_url)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23) ON CONFLICT DO NOTHING`, appValues(app)...)
	if err != nil {
		return err
	}
	if n == 0 {
		return oauthstore.ErrTaken
	}
	for _, secret := range secrets {
		if err := t.addSecret(ctx, secret); err != nil {
			return err
		}
	}
	if len(secrets) == 0 {
		return nil
	}
	return t.noteSecrets(ctx, app.ID)
}

func appValues(a partner.App) []any {
	return append([]any{
		a.ID, a.ClientID, string(a.Type), string(a.Status), a.StatusReason, string(a.Origin), a.Name, a.OrganizationID, a.Reviewed, list(a.RedirectURIs),
		a.Scopes.String(), a.PinnedVersion, a.AppURL, a.Metadata, ms(a.DocumentFetchedAt), ms(a.DocumentFreshUntil), ms(a.CreatedAt), a.Version, a.CustomBusinessID,
	}, profileValues(a.ReviewedAs)...)
}

// App implements oauthstore.Store.
func (s *Store) App(ctx context.Context, id string) (partner.App, error) {
	var row appRow
	if err := s.read(ctx, "SELECT "+appColumns+" FROM partnerkit_app a WHERE a.id = $1", []any{id}, row.dest()...); err != nil {
		return partner.App{}, wrap("app", notFound(err))
	}
	return row.value()
}

// LockApp implements consolestore.Store.
func (s *Store) LockApp(ctx context.Context, id string) (app partner.App, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *tx) error {
		app, err = tx.lockApp(ctx, id, tx.dialect.ForUpdate)
		return err
	})
	return app, wrap("lock app", err)
}

// lockApp reads an app under a lock that the suffix names.
func (t *tx) lockApp(ctx context.Context, id, suffix string) (partner.App, error) {
	var row appRow
	if err := t.one(ctx, "SELECT "+appColumns+" FROM partnerkit_app a WHERE a.id = $1"+suffix, []any{id}, row.dest()...); err != nil {
		return partner.App{}, notFound(err)
	}
	return row.value()
}

// UpdateApp implements oauthstore.Store.
func (s *Store) UpdateApp(ctx context.Context, id string, change func(partner.App) (partner.App, error)) (partner.App, error) {
	var changed partner.App
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		app, next, err := tx.changeApp(ctx, id, change)
		if err != nil {
			return err
		}
		next.CustomBusinessID = app.CustomBusinessID
		changed = next
		return tx.saveApp(ctx, changed)
	})
	return changed, wrap("update app", err)
}

// changeApp locks an app and returns it before and after a change, which is not saved yet.
func (t *tx) changeApp(ctx context.Context, id string, change func(partner.App) (partner.App, error)) (app, next partner.App, err error) {
	if app, err = t.lockApp(ctx, id, t.dialect.ForUpdate); err != nil {
		return app, next, err
	}
	if next, err = change(app); err != nil {
		return app, next, err
	}
	if app.Status == partner.AppDeactivated && next.Status != app.Status {
		return app, next, oauthstore.ErrDeactivated
	}
	next.ID, next.ClientID, next.Type, next.Origin, next.CreatedAt, next.Version = app.ID, app.ClientID, app.Type, app.Origin, app.CreatedAt, app.Version+1
	return app, reviewedAsItIs(next), nil
}

// reviewedAsItIs completes an app that is reviewed and does not say as what.
func reviewedAsItIs(a partner.App) partner.App {
	if a.Reviewed && a.ReviewedAs.IsEmpty() {
		a.ReviewedAs = a.Profile()
	}
	return a
}

func (t *tx) saveApp(ctx context.Context, a partner.App) error {
	values := []any{
		a.ID, a.Name, a.OrganizationID, a.Reviewed, list(a.RedirectURIs), a.Scopes.String(),
		a.PinnedVersion, a.AppURL, a.Metadata, ms(a.DocumentFetchedAt), ms(a.DocumentFreshUntil), string(a.Type), string(a.Status), a.StatusReason, a.Version, a.CustomBusinessID,
	}
	_, err := t.exec(ctx, `UPDATE partnerkit_app SET name = $2, organization_id = $3, reviewed = $4, redirect_uris = $5, scopes = $6,
			pinned_version = $7, app_url = $8, metadata = $9, document_fetched_at = $10, document_fresh_until = $11, type = $12, status = $13, status_reason = $14, version = $15,
			custom_business_id = $16, reviewed_name = $17, reviewed_redirect_uris = $18, reviewed_scopes = $19, reviewed_app_url = $20 WHERE id = $1`, append(values, profileValues(a.ReviewedAs)...)...)
	return err
}

// SaveDocumentApp implements oauthstore.Store.
func (s *Store) SaveDocumentApp(ctx context.Context, app partner.App) (partner.App, error) {
	var saved partner.App
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		err := tx.createApp(ctx, app, nil)
		if err == nil {
			saved = app
			return nil
		}
		if !errors.Is(err, oauthstore.ErrTaken) {
			return err
		}
		var row appRow
		err = tx.one(ctx, "SELECT "+appColumns+" FROM partnerkit_app a WHERE a.client_id = $1"+tx.dialect.ForUpdate, []any{app.ClientID}, row.dest()...)
		if err != nil {
			return notFound(err)
		}
		if saved, err = row.value(); err != nil || saved.Origin != partner.OriginDocument || app.DocumentFetchedAt.Before(saved.DocumentFetchedAt) {
			return err // not a document's, or a slower node with an older one
		}
		saved.Name, saved.Type, saved.RedirectURIs, saved.Scopes, saved.Metadata = app.Name, app.Type, app.RedirectURIs, app.Scopes, app.Metadata
		saved.DocumentFetchedAt, saved.DocumentFreshUntil = app.DocumentFetchedAt, app.DocumentFreshUntil
		saved.Version++
		return tx.saveApp(ctx, saved)
	})
	return saved, wrap("save document app", err)
}

// wrap adds the name of the operation to an error.
func wrap(act string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", act, err)
}

// notFound turns an empty result into the error of the interface.
func notFound(err error) error {
	if errors.Is(err, storage.ErrNoRows) {
		return partner.ErrNotFound
	}
	return err
}

// changedOne turns an update of nothing into the error of the interface.
func changedOne(n int64, err error) error {
	if err == nil && n == 0 {
		return partner.ErrNotFound
	}
	return err
}
