-- +goose Up
-- Secrets are sealed by the host's keyring. A deleted webhook stays while its
-- deliveries may, so that they know why they are not sent.
CREATE TABLE partnerkit_webhook (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES partnerkit_app (id) ON DELETE CASCADE,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  enabled BOOLEAN NOT NULL,
  secret BYTEA NOT NULL,
  previous_secret BYTEA,
  previous_expires_at BIGINT,
  warned_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  deleted_at BIGINT
);
CREATE INDEX pk_webhook_app ON partnerkit_webhook (app_id, id) WHERE deleted_at IS NULL;
CREATE INDEX pk_webhook_deleted ON partnerkit_webhook (deleted_at) WHERE deleted_at IS NOT NULL;

-- event_id is NULL for a test. Purged by ids, which sort by time. An event is planned
-- once, so that a webhook gets it once. The row of a delivery stays as it was before the
-- attempt that arrived: that one shows it.
CREATE TABLE partnerkit_delivery (
  id TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  event_id TEXT,
  event_type TEXT NOT NULL,
  business_id TEXT NOT NULL,
  body BYTEA NOT NULL,
  status TEXT NOT NULL,
  attempts BIGINT NOT NULL,
  response_code BIGINT,
  last_error TEXT,
  next_attempt_at BIGINT,
  created_at BIGINT NOT NULL
);
-- For the list of a webhook. It is over an expression, so that PostgreSQL cannot walk
-- through the primary key instead, past the deliveries of all others, when it believes
-- that the webhook has many.
CREATE INDEX pk_delivery_webhook ON partnerkit_delivery (webhook_id, (id || ''));

-- What is queued or retrying, and nothing else: a delivery that ends leaves. shard
-- is a hash of the webhook, see webhooks.ShardOf.
CREATE TABLE partnerkit_delivery_queue (
  webhook_id TEXT NOT NULL,
  due_at BIGINT NOT NULL,
  delivery_id TEXT NOT NULL,
  shard BIGINT NOT NULL,
  PRIMARY KEY (webhook_id, due_at, delivery_id)
);
CREATE INDEX pk_delivery_queue_due ON partnerkit_delivery_queue (shard, due_at, webhook_id);

CREATE TABLE partnerkit_attempt (
  delivery_id TEXT NOT NULL,
  id TEXT NOT NULL,
  number BIGINT NOT NULL,
  signature TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  took_ms BIGINT NOT NULL,
  response_code BIGINT,
  error TEXT,
  answer BYTEA,
  PRIMARY KEY (delivery_id, id)
);

-- Who works on what. Leases are in real time. Shard 16 is the planning.
CREATE TABLE partnerkit_dispatcher (
  id TEXT PRIMARY KEY,
  lease_ends BIGINT NOT NULL
);
CREATE TABLE partnerkit_shard (
  id BIGINT PRIMARY KEY,
  holder TEXT NOT NULL,
  epoch BIGINT NOT NULL,
  lease_ends BIGINT NOT NULL
);
INSERT INTO partnerkit_shard (id, holder, epoch, lease_ends) VALUES
  (0, '', 0, 0), (1, '', 0, 0), (2, '', 0, 0), (3, '', 0, 0), (4, '', 0, 0), (5, '', 0, 0),
  (6, '', 0, 0), (7, '', 0, 0), (8, '', 0, 0), (9, '', 0, 0), (10, '', 0, 0), (11, '', 0, 0),
  (12, '', 0, 0), (13, '', 0, 0), (14, '', 0, 0), (15, '', 0, 0), (16, '', 0, 0);

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (6, 'webhooks', 6);
