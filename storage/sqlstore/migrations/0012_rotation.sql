-- minimum: 12
-- A refresh token was used when its family is of a later generation: a rotation writes
-- the family's row and the new tokens, and nothing else. The answer that may be repeated
-- is that of the last rotation. When a family expires, its last token says. The tables
-- are made anew, since SQLite drops a column much more slowly than a table.
CREATE TABLE partnerkit_before AS SELECT id, app_id, installation_id, grant_id, user_id, scopes, generation, created_at, ended_at FROM partnerkit_family;
DROP TABLE partnerkit_family;
CREATE TABLE partnerkit_family (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL,
  installation_id TEXT NOT NULL,
  grant_id TEXT,
  user_id TEXT NOT NULL,
  scopes TEXT NOT NULL,
  generation BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  answer BYTEA,
  answer_scopes TEXT,
  answered_at BIGINT
);
INSERT INTO partnerkit_family (id, app_id, installation_id, grant_id, user_id, scopes, generation, created_at, ended_at)
  SELECT id, app_id, installation_id, grant_id, user_id, scopes, generation, created_at, ended_at FROM partnerkit_before ORDER BY id;
DROP TABLE partnerkit_before;

CREATE TABLE partnerkit_before AS SELECT id, digest, family_id, generation, created_at, expires_at FROM partnerkit_refresh_token;
DROP TABLE partnerkit_refresh_token;
CREATE TABLE partnerkit_refresh_token (
  id TEXT PRIMARY KEY,
  digest BYTEA NOT NULL UNIQUE,
  family_id TEXT NOT NULL,
  generation BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
INSERT INTO partnerkit_refresh_token (id, digest, family_id, generation, created_at, expires_at)
  SELECT id, digest, family_id, generation, created_at, expires_at FROM partnerkit_before ORDER BY id;
DROP TABLE partnerkit_before;
