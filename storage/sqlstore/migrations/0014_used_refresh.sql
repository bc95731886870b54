-- minimum: 13
-- The digests of used refresh tokens whose rows were purged while their families live on,
-- so that a replay is still recognized. The rows of a family are deleted before it is.
CREATE TABLE partnerkit_used_refresh_token (
  digest BYTEA PRIMARY KEY,
  family_id TEXT NOT NULL REFERENCES partnerkit_family (id) ON DELETE CASCADE
) /* keyed */;
CREATE INDEX pk_used_refresh_token_family ON partnerkit_used_refresh_token (family_id);
