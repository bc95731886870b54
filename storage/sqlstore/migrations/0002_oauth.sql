-- +goose Up
-- The tables of the OAuth server. Whether a token is alive follows from its app,
-- installation, grant and family: ending one of them marks that row only. Rows are
-- purged by their ids, which sort by time.

CREATE TABLE partnerkit_app (
  id TEXT PRIMARY KEY,
  client_id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  -- What the operator told the developers about the status.
  status_reason TEXT NOT NULL,
  origin TEXT NOT NULL,
  name TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  reviewed BOOLEAN NOT NULL,
  redirect_uris TEXT NOT NULL,
  scopes TEXT NOT NULL,
  pinned_version TEXT NOT NULL,
  app_url TEXT NOT NULL,
  -- The business that may approve a custom connection; empty for none.
  custom_business_id TEXT NOT NULL DEFAULT '',
  metadata TEXT NOT NULL,
  document_fetched_at BIGINT NOT NULL,
  document_fresh_until BIGINT NOT NULL,
  -- The digests of the secrets that are valid now, so that a client is one row.
  first_secret BYTEA,
  second_secret BYTEA,
  -- Grows with each change of the app.
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX pk_app_organization ON partnerkit_app (organization_id, id);

-- A row for each organization that has added an app. Adding another one locks the row, so
-- that the number of apps is right.
CREATE TABLE partnerkit_organization (
  id TEXT PRIMARY KEY
);
CREATE INDEX pk_app_by_itself ON partnerkit_app (created_at) WHERE origin <> 'console';

CREATE TABLE partnerkit_client_secret (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES partnerkit_app (id) ON DELETE CASCADE,
  digest BYTEA NOT NULL,
  prefix TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  revoked_at BIGINT
);
CREATE INDEX pk_client_secret_app ON partnerkit_client_secret (app_id, id);

-- The digests of client secrets that another server made, until their secrets are used: the
-- digest in the row of the secret is random until then.
CREATE TABLE partnerkit_foreign_secret (
  secret_id TEXT PRIMARY KEY REFERENCES partnerkit_client_secret (id) ON DELETE CASCADE,
  app_id TEXT NOT NULL,
  digest TEXT NOT NULL
);
CREATE INDEX pk_foreign_secret_app ON partnerkit_foreign_secret (app_id, secret_id);

-- The refresh tokens of another server that were used, each with the family that it started. They
-- are never purged: a family ends if its token is presented again.
CREATE TABLE partnerkit_foreign_token (
  digest BYTEA PRIMARY KEY,
  app_id TEXT NOT NULL,
  family_id TEXT NOT NULL,
  used_at BIGINT NOT NULL
) /* keyed */;

CREATE TABLE partnerkit_user_state (
  user_id TEXT PRIMARY KEY,
  status TEXT NOT NULL,
  changed_at BIGINT NOT NULL
) /* keyed */;

CREATE TABLE partnerkit_installation (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES partnerkit_app (id),
  business_id TEXT NOT NULL,
  status TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  redact_at BIGINT,
  own_sandbox BOOLEAN NOT NULL DEFAULT FALSE -- of the app's organization: no limit of connections counts it
);
CREATE UNIQUE INDEX pk_installation_active ON partnerkit_installation (app_id, business_id) WHERE status = 'ACTIVE';
CREATE INDEX pk_installation_business ON partnerkit_installation (business_id, id) WHERE status = 'ACTIVE';
CREATE INDEX pk_installation_active_app ON partnerkit_installation (app_id, id) WHERE status = 'ACTIVE';
CREATE INDEX pk_installation_app ON partnerkit_installation (app_id, business_id, created_at);
CREATE INDEX pk_installation_redact ON partnerkit_installation (redact_at) WHERE redact_at IS NOT NULL;

-- When an installation, a client secret or a console token was used last, by its id. It is
-- a table of its own because issuing a token locks the row of the installation.
CREATE TABLE partnerkit_last_use (
  id TEXT PRIMARY KEY,
  used_at BIGINT NOT NULL
);

-- The approval of a custom connection is a grant without a user: user_id is empty, and
-- permissions lists what its calls may do.
CREATE TABLE partnerkit_grant (
  id TEXT PRIMARY KEY,
  installation_id TEXT NOT NULL REFERENCES partnerkit_installation (id),
  user_id TEXT NOT NULL,
  scopes TEXT NOT NULL,
  permissions TEXT NOT NULL DEFAULT '[]',
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  -- When it was noticed that the user is no longer a member of the business.
  left_at BIGINT
);
CREATE UNIQUE INDEX pk_grant_alive ON partnerkit_grant (installation_id, user_id) WHERE ended_at IS NULL;

-- purpose is empty for the request of an app. Other requests are about a business.
CREATE TABLE partnerkit_authorization_request (
  id TEXT PRIMARY KEY,
  digest BYTEA NOT NULL UNIQUE,
  purpose TEXT NOT NULL,
  business_id TEXT NOT NULL,
  browser BYTEA NOT NULL,
  session BYTEA NOT NULL,
  app_id TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  scopes TEXT NOT NULL,
  code_challenge TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at BIGINT,
  state BYTEA
);
CREATE INDEX pk_open_request ON partnerkit_authorization_request (session, id) WHERE used_at IS NULL;

CREATE TABLE partnerkit_code (
  id TEXT PRIMARY KEY,
  digest BYTEA NOT NULL UNIQUE,
  app_id TEXT NOT NULL,
  installation_id TEXT NOT NULL,
  grant_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  code_challenge TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at BIGINT,
  family_id TEXT
) /* keyed */;

-- generation counts the rotations: tokens of an earlier generation are dead, and a refresh
-- token of an earlier generation is used. No index covers what a rotation changes. answer
-- is the last response, for a retry. The grant and the user change when another person takes
-- the connection over, so access tokens of a family have those of the family.
CREATE TABLE partnerkit_family (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL,
  installation_id TEXT NOT NULL,
  grant_id TEXT,
  user_id TEXT NOT NULL,
  scopes TEXT NOT NULL,
  generation BIGINT NOT NULL,
  ended_at BIGINT,
  answer BYTEA,
  answer_scopes TEXT,
  answered_at BIGINT
) /* keyed */;
CREATE INDEX pk_family_user ON partnerkit_family (installation_id, user_id) WHERE ended_at IS NULL;

-- A token carries its id and is found by it; the digest proves it and needs no index. Its
-- id says when it was created.
CREATE TABLE partnerkit_access_token (
  id TEXT PRIMARY KEY,
  digest BYTEA NOT NULL,
  app_id TEXT NOT NULL,
  installation_id TEXT NOT NULL,
  grant_id TEXT,
  user_id TEXT NOT NULL,
  family_id TEXT,
  generation BIGINT NOT NULL,
  scopes TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  revoked_at BIGINT
) /* keyed */;
-- Exchanged tokens.
CREATE INDEX pk_access_token_user ON partnerkit_access_token (installation_id, user_id) WHERE family_id IS NULL;

CREATE TABLE partnerkit_refresh_token (
  id TEXT PRIMARY KEY,
  digest BYTEA NOT NULL,
  family_id TEXT NOT NULL,
  generation BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
) /* keyed */;

-- The digests of used refresh tokens whose rows were purged while their families live on,
-- so that a replay is still recognized. The rows of a family are deleted before it is.
CREATE TABLE partnerkit_used_refresh_token (
  digest BYTEA PRIMARY KEY,
  family_id TEXT NOT NULL REFERENCES partnerkit_family (id) ON DELETE CASCADE
) /* keyed */;
CREATE INDEX pk_used_refresh_token_family ON partnerkit_used_refresh_token (family_id);

CREATE TABLE partnerkit_device_code (
  id TEXT PRIMARY KEY,
  digest BYTEA NOT NULL UNIQUE,
  user_code TEXT NOT NULL UNIQUE,
  app_id TEXT NOT NULL,
  scopes TEXT NOT NULL,
  status TEXT NOT NULL,
  installation_id TEXT,
  grant_id TEXT,
  user_id TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  polled_at BIGINT
);

CREATE TABLE partnerkit_used_session_token (
  token_id TEXT PRIMARY KEY,
  expires_at BIGINT NOT NULL
);
CREATE INDEX pk_used_session_token_expires ON partnerkit_used_session_token (expires_at);

CREATE TABLE partnerkit_registration_token (
  id TEXT PRIMARY KEY,
  digest BYTEA NOT NULL UNIQUE,
  organization_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at BIGINT
);

CREATE TABLE partnerkit_signing_key (
  id TEXT PRIMARY KEY,
  sealed BYTEA NOT NULL,
  created_at BIGINT NOT NULL,
  active_at BIGINT NOT NULL,
  retire_at BIGINT
);
-- One key at a time has no end yet: the youngest.
CREATE UNIQUE INDEX pk_signing_key_youngest ON partnerkit_signing_key ((1)) WHERE retire_at IS NULL;

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (2, 'oauth', 2);
