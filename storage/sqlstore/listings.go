package sqlstore

import (
	"context"

	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// Listing implements consolestore.Store.
func (s *Store) Listing(ctx context.Context, appID string) (consolestore.Listing, error) {
	listings, err := s.Listings(ctx, appID)
	if err != nil {
		return consolestore.Listing{}, err
	}
	listing, ok := listings[appID]
	if !ok {
		return consolestore.Listing{}, wrap("listing", partner.ErrNotFound)
	}
	return listing, nil
}

// Listings implements consolestore.Store.
func (s *Store) Listings(ctx context.Context, appIDs ...string) (map[string]consolestore.Listing, error) {
	listings, err := readListings(ctx, s, s.sql, appIDs...)
	return listings, wrap("listings", err)
}

func readListings(ctx context.Context, from storage.Querier, text *sqlText, appIDs ...string) (map[string]consolestore.Listing, error) {
	listings := make(map[string]consolestore.Listing)
	err := eachIn(ctx, from, text.of(`SELECT is_live, is_latest, version, id, state, slug, name, summary, description, icon_asset_id, screenshot_asset_ids,
			publisher, terms_url, privacy_url, note, reviewer_id, submitted_at, created_at, updated_at,
			app_name, app_redirect_uris, app_scopes, app_app_url, app_id
		FROM partnerkit_listing_revision WHERE app_id IN`), appIDs, func(scan func(...any) error) error {
		var r consolestore.Revision
		var app profileRow
		var isLive, isLatest bool
		var version int64
		var screenshots string
		var submitted, created, updated int64
		err := scan(append([]any{&isLive, &isLatest, &version, &r.ID, &r.State, &r.Slug, &r.Name, &r.Summary, &r.Description, &r.IconAssetID, &screenshots,
			&r.Publisher, &r.TermsURL, &r.PrivacyURL, &r.Note, &r.ReviewerID, &submitted, &created, &updated}, append(app.dest(), &r.AppID)...)...)
		if err != nil {
			return err
		}
		r.SubmittedAt, r.CreatedAt, r.UpdatedAt = fromMS(submitted), fromMS(created), fromMS(updated)
		if r.ScreenshotAssetIDs, err = parseList(screenshots); err != nil {
			return err
		}
		if r.App, err = app.value(); err != nil {
			return err
		}
		listing := listings[r.AppID]
		if isLive {
			listing.Live = &r
		}
		if isLatest {
			listing.Revision, listing.Version = r, version
		}
		listings[r.AppID] = listing
		return nil
	})
	return listings, err
}

// ChangeListing implements consolestore.Store. Concurrent changes to the listing or the
// assets of the app wait for the app's row.
func (s *Store) ChangeListing(ctx context.Context, appID string, step func(consolestore.ListingStanding) (consolestore.Revision, error)) (consolestore.Listing, error) {
	var changed consolestore.Listing
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if _, err := tx.lockApp(ctx, appID, tx.dialect.ForUpdate); err != nil {
			return err
		}
		listings, err := readListings(ctx, tx.on, tx.sql, appID)
		if err != nil {
			return err
		}
		var before *consolestore.Listing
		if listing, ok := listings[appID]; ok {
			before = &listing
		}
		assets, err := readAssets(ctx, tx.on, tx.sql, appID)
		if err != nil {
			return err
		}
		next, err := step(consolestore.ListingStanding{Listing: before, Assets: assets})
		if err != nil {
			return err
		}
		next.AppID = appID
		changed = consolestore.Listing{Revision: next, Version: 1}
		if before != nil {
			changed.Live, changed.Version = before.Live, before.Version+1
		}
		if err := tx.claimSlug(ctx, appID, next.Slug); err != nil {
			return err
		}
		if err := tx.saveRevision(ctx, before, next, changed.Version); err != nil {
			return err
		}
		if next.State == consolestore.RevisionApproved {
			if err := tx.publish(ctx, changed.Live, next); err != nil {
				return err
			}
			changed.Live = &next
		}
		_, err = tx.exec(ctx, `DELETE FROM partnerkit_listing_slug WHERE app_id = $1
			AND slug NOT IN (SELECT slug FROM partnerkit_listing_revision WHERE app_id = $1)`, appID)
		return err
	})
	return changed, wrap("change listing", err)
}

// claimSlug gives a slug to an app; the unique index says whose it is.
func (t *tx) claimSlug(ctx context.Context, appID, slug string) error {
	var owner string
	err := t.one(ctx, `INSERT INTO partnerkit_listing_slug (slug, app_id) VALUES ($1, $2)
		ON CONFLICT (slug) DO UPDATE SET app_id = partnerkit_listing_slug.app_id RETURNING app_id`, []any{slug, appID}, &owner)
	if err == nil && owner != appID {
		return consolestore.ErrSlugTaken
	}
	return err
}

// saveRevision writes the latest revision over the one before, or beside it when it has
// an id of its own.
func (t *tx) saveRevision(ctx context.Context, before *consolestore.Listing, r consolestore.Revision, version int64) error {
	values := append([]any{
		r.ID, string(r.State), r.Slug, r.Name, r.Summary, r.Description, r.IconAssetID, list(r.ScreenshotAssetIDs),
		r.Publisher, r.TermsURL, r.PrivacyURL, r.Note, r.ReviewerID, ms(r.SubmittedAt), ms(r.UpdatedAt), version,
	}, profileValues(r.App)...)
	if before != nil && before.Revision.ID == r.ID {
		_, err := t.exec(ctx, `UPDATE partnerkit_listing_revision SET state = $2, slug = $3, name = $4, summary = $5, description = $6,
			icon_asset_id = $7, screenshot_asset_ids = $8, publisher = $9, terms_url = $10, privacy_url = $11, note = $12,
			reviewer_id = $13, submitted_at = $14, updated_at = $15, version = $16,
			app_name = $17, app_redirect_uris = $18, app_scopes = $19, app_app_url = $20 WHERE id = $1`, values...)
		return err
	}
	if _, err := t.exec(ctx, "UPDATE partnerkit_listing_revision SET is_latest = FALSE WHERE app_id = $1 AND is_latest", r.AppID); err != nil {
		return err
	}
	_, err := t.exec(ctx, `INSERT INTO partnerkit_listing_revision
			(id, state, slug, name, summary, description, icon_asset_id, screenshot_asset_ids, publisher, terms_url, privacy_url, note, reviewer_id, submitted_at, updated_at, version,
			app_name, app_redirect_uris, app_scopes, app_app_url, app_id, created_at, is_live, is_latest)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, FALSE, TRUE)`, append(values, r.AppID, ms(r.CreatedAt))...)
	return err
}

// publish makes a revision live in place of the one before.
func (t *tx) publish(ctx context.Context, before *consolestore.Revision, r consolestore.Revision) error {
	if before != nil {
		if _, err := t.exec(ctx, "DELETE FROM partnerkit_listing_revision WHERE id = $1", before.ID); err != nil {
			return err
		}
	}
	_, err := t.exec(ctx, "UPDATE partnerkit_listing_revision SET is_live = TRUE WHERE id = $1", r.ID)
	return err
}
