-- +goose Up
-- What the last review of an app covered. Apps that are reviewed already were reviewed as they
-- are now.
ALTER TABLE partnerkit_app ADD COLUMN reviewed_name TEXT NOT NULL DEFAULT '';
ALTER TABLE partnerkit_app ADD COLUMN reviewed_redirect_uris TEXT NOT NULL DEFAULT '[]';
ALTER TABLE partnerkit_app ADD COLUMN reviewed_scopes TEXT NOT NULL DEFAULT '';
ALTER TABLE partnerkit_app ADD COLUMN reviewed_app_url TEXT NOT NULL DEFAULT '';
UPDATE partnerkit_app SET reviewed_name = name, reviewed_redirect_uris = redirect_uris, reviewed_scopes = scopes, reviewed_app_url = app_url WHERE reviewed;

-- The app as it was when the revision of its listing was submitted.
ALTER TABLE partnerkit_listing_revision ADD COLUMN app_name TEXT NOT NULL DEFAULT '';
ALTER TABLE partnerkit_listing_revision ADD COLUMN app_redirect_uris TEXT NOT NULL DEFAULT '[]';
ALTER TABLE partnerkit_listing_revision ADD COLUMN app_scopes TEXT NOT NULL DEFAULT '';
ALTER TABLE partnerkit_listing_revision ADD COLUMN app_app_url TEXT NOT NULL DEFAULT '';
UPDATE partnerkit_listing_revision SET
  app_name = (SELECT a.name FROM partnerkit_app a WHERE a.id = app_id),
  app_redirect_uris = (SELECT a.redirect_uris FROM partnerkit_app a WHERE a.id = app_id),
  app_scopes = (SELECT a.scopes FROM partnerkit_app a WHERE a.id = app_id),
  app_app_url = (SELECT a.app_url FROM partnerkit_app a WHERE a.id = app_id)
WHERE submitted_at > 0 AND state <> 'draft';

-- The last submission of an app without its listing, as the app was then.
CREATE TABLE partnerkit_submission (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL UNIQUE REFERENCES partnerkit_app (id) ON DELETE CASCADE,
  state TEXT NOT NULL,
  app_name TEXT NOT NULL,
  app_redirect_uris TEXT NOT NULL,
  app_scopes TEXT NOT NULL,
  app_app_url TEXT NOT NULL,
  note TEXT NOT NULL,
  reviewer_id TEXT NOT NULL,
  submitted_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (12, 'review', 12);
