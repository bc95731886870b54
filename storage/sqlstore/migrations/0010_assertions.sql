-- +goose Up
-- Clients that authenticate with keys of their own: the keys as they were last fetched, and the
-- assertions that were used, by a digest of client and jti.

CREATE TABLE partnerkit_client_keys (
  app_id TEXT PRIMARY KEY REFERENCES partnerkit_app (id) ON DELETE CASCADE,
  uri TEXT NOT NULL,
  key_set TEXT NOT NULL,
  fetched_at BIGINT NOT NULL,
  fresh_until BIGINT NOT NULL
);

CREATE TABLE partnerkit_used_assertion (
  digest BYTEA PRIMARY KEY,
  expires_at BIGINT NOT NULL
) /* keyed */;
CREATE INDEX pk_used_assertion_expires ON partnerkit_used_assertion (expires_at);

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (10, 'assertions', 10);
