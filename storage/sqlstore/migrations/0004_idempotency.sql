-- +goose Up
-- Keys of writes that may be sent again. A row is running until it has a status:
-- owner, the request that works under it, may then give it its answer.
-- lease_ends is in real time; expires_at is in the platform's.
CREATE TABLE partnerkit_idempotency_key (
  app_id TEXT NOT NULL,
  business_id TEXT NOT NULL,
  name TEXT NOT NULL,
  fingerprint BYTEA NOT NULL,
  owner TEXT NOT NULL,
  lease_ends BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  status BIGINT,
  header TEXT,
  body BYTEA,
  is_omitted BOOLEAN,
  PRIMARY KEY (app_id, business_id, name)
);
CREATE INDEX pk_idempotency_key_expires ON partnerkit_idempotency_key (expires_at);

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (4, 'idempotency', 4);
