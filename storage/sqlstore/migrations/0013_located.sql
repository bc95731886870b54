-- minimum: 13
-- A token carries its id and is found by it. The digest proves it and needs no index, whose
-- entries lay all over the place. Tokens from before this are still found by their digests.
-- What each mint writes is kept in the order of its key, where the database can do so, and
-- does not say when it was made: its id does.
CREATE TABLE partnerkit_before AS SELECT id, digest, app_id, installation_id, grant_id, user_id, family_id, generation, scopes, expires_at, revoked_at FROM partnerkit_access_token;
DROP TABLE partnerkit_access_token;
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
  revoked_at BIGINT,
  unlocated BOOLEAN NOT NULL DEFAULT FALSE
) /* keyed */;
INSERT INTO partnerkit_access_token (id, digest, app_id, installation_id, grant_id, user_id, family_id, generation, scopes, expires_at, revoked_at, unlocated)
  SELECT id, digest, app_id, installation_id, grant_id, user_id, family_id, generation, scopes, expires_at, revoked_at, TRUE FROM partnerkit_before ORDER BY id;
DROP TABLE partnerkit_before;
CREATE UNIQUE INDEX pk_access_token_unlocated ON partnerkit_access_token (digest) WHERE unlocated;

CREATE TABLE partnerkit_before AS SELECT id, digest, family_id, generation, expires_at FROM partnerkit_refresh_token;
DROP TABLE partnerkit_refresh_token;
CREATE TABLE partnerkit_refresh_token (
  id TEXT PRIMARY KEY,
  digest BYTEA NOT NULL,
  family_id TEXT NOT NULL,
  generation BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  unlocated BOOLEAN NOT NULL DEFAULT FALSE
) /* keyed */;
INSERT INTO partnerkit_refresh_token (id, digest, family_id, generation, expires_at, unlocated)
  SELECT id, digest, family_id, generation, expires_at, TRUE FROM partnerkit_before ORDER BY id;
DROP TABLE partnerkit_before;
CREATE UNIQUE INDEX pk_refresh_token_unlocated ON partnerkit_refresh_token (digest) WHERE unlocated;

CREATE TABLE partnerkit_before AS SELECT id, app_id, installation_id, grant_id, user_id, scopes, generation, ended_at, answer, answer_scopes, answered_at FROM partnerkit_family;
DROP TABLE partnerkit_family;
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
INSERT INTO partnerkit_family (id, app_id, installation_id, grant_id, user_id, scopes, generation, ended_at, answer, answer_scopes, answered_at)
  SELECT id, app_id, installation_id, grant_id, user_id, scopes, generation, ended_at, answer, answer_scopes, answered_at FROM partnerkit_before ORDER BY id;
DROP TABLE partnerkit_before;

CREATE TABLE partnerkit_before AS SELECT * FROM partnerkit_code;
DROP TABLE partnerkit_code;
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
INSERT INTO partnerkit_code SELECT * FROM partnerkit_before ORDER BY id;
DROP TABLE partnerkit_before;

-- The digests of the secrets that are valid now, so that a client is one row. The time of
-- their end has another name from here on, lest older code end one and not note it there
-- (to rename a column takes SQLite as long as ten tables).
CREATE TABLE partnerkit_before AS SELECT id, app_id, digest, prefix, created_at, ended_at FROM partnerkit_client_secret;
DROP TABLE partnerkit_client_secret;
CREATE TABLE partnerkit_client_secret (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES partnerkit_app (id) ON DELETE CASCADE,
  digest BYTEA NOT NULL,
  prefix TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  revoked_at BIGINT
);
INSERT INTO partnerkit_client_secret (id, app_id, digest, prefix, created_at, revoked_at)
  SELECT id, app_id, digest, prefix, created_at, ended_at FROM partnerkit_before;
DROP TABLE partnerkit_before;
CREATE INDEX pk_client_secret_app ON partnerkit_client_secret (app_id, id);
ALTER TABLE partnerkit_app ADD COLUMN first_secret BYTEA;
ALTER TABLE partnerkit_app ADD COLUMN second_secret BYTEA;
UPDATE partnerkit_app SET
  first_secret = (SELECT digest FROM partnerkit_client_secret s WHERE s.app_id = partnerkit_app.id AND s.revoked_at IS NULL ORDER BY s.id LIMIT 1),
  second_secret = (SELECT digest FROM partnerkit_client_secret s WHERE s.app_id = partnerkit_app.id AND s.revoked_at IS NULL ORDER BY s.id LIMIT 1 OFFSET 1);

CREATE TABLE partnerkit_before AS SELECT * FROM partnerkit_user_state;
DROP TABLE partnerkit_user_state;
CREATE TABLE partnerkit_user_state (
  user_id TEXT PRIMARY KEY,
  status TEXT NOT NULL,
  changed_at BIGINT NOT NULL
) /* keyed */;
INSERT INTO partnerkit_user_state SELECT * FROM partnerkit_before;
DROP TABLE partnerkit_before;
