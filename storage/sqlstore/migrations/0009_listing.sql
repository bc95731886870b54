-- +goose Up
-- What a marketplace shows of an app, and what extends the service. Of a listing two
-- revisions are kept, the live one and the latest, which may be the same.
CREATE TABLE partnerkit_listing_revision (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES partnerkit_app (id) ON DELETE CASCADE,
  is_live BOOLEAN NOT NULL,
  is_latest BOOLEAN NOT NULL,
  -- Grows with each change of the listing; the latest revision has the listing's.
  version BIGINT NOT NULL,
  state TEXT NOT NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  summary TEXT NOT NULL,
  description TEXT NOT NULL,
  icon_asset_id TEXT NOT NULL,
  screenshot_asset_ids TEXT NOT NULL,
  publisher TEXT NOT NULL,
  terms_url TEXT NOT NULL,
  privacy_url TEXT NOT NULL,
  note TEXT NOT NULL,
  reviewer_id TEXT NOT NULL,
  submitted_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX pk_listing_live ON partnerkit_listing_revision (app_id) WHERE is_live;
CREATE UNIQUE INDEX pk_listing_latest ON partnerkit_listing_revision (app_id) WHERE is_latest;

-- The slugs of those revisions: one app has each.
CREATE TABLE partnerkit_listing_slug (
  slug TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES partnerkit_app (id) ON DELETE CASCADE
);
CREATE INDEX pk_listing_slug_app ON partnerkit_listing_slug (app_id);

CREATE TABLE partnerkit_asset (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES partnerkit_app (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  content_type TEXT NOT NULL,
  width BIGINT NOT NULL,
  height BIGINT NOT NULL,
  size BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  data BYTEA NOT NULL
);
CREATE INDEX pk_asset_app ON partnerkit_asset (app_id, id);

CREATE TABLE partnerkit_extension (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES partnerkit_app (id) ON DELETE CASCADE,
  resource_type TEXT NOT NULL,
  path TEXT NOT NULL,
  label TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX pk_extension_app ON partnerkit_extension (app_id, id);

CREATE TABLE partnerkit_function (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES partnerkit_app (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  source TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX pk_function_app ON partnerkit_function (app_id, id);

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (9, 'listing', 9);
