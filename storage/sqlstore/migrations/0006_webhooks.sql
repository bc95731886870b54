-- +goose Up
-- Secrets are sealed by the host's keyring. A deleted webhook stays while its
-- deliveries may, so that they know why they are not sent. failing_since is when the first
-- attempt failed after the last one that arrived, and failed_count is how many deliveries
-- have used up their attempts since then.
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
  failing_since BIGINT,
  failed_count BIGINT NOT NULL DEFAULT 0,
  disabled_at BIGINT,
  disabled_reason TEXT,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  deleted_at BIGINT
);
CREATE INDEX pk_webhook_app ON partnerkit_webhook (app_id, id) WHERE deleted_at IS NULL;
CREATE INDEX pk_webhook_deleted ON partnerkit_webhook (deleted_at) WHERE deleted_at IS NOT NULL;

-- event_id and sequence are NULL for a test. Purged by ids, which sort by time. An event
-- is planned once, so that a webhook gets it once. When the first attempt of a round
-- arrives, the row of the delivery stays queued: the attempt shows that it arrived. round
-- is how often the delivery was sent again.
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
  round BIGINT NOT NULL DEFAULT 0,
  sequence BIGINT,
  created_at BIGINT NOT NULL
);
-- For the list of a webhook and its filters. They are over an expression, so that
-- PostgreSQL cannot walk through the primary key instead, past the deliveries of all
-- others, when it believes that the webhook has many.
CREATE INDEX pk_delivery_webhook ON partnerkit_delivery (webhook_id, (id || ''));
CREATE INDEX pk_delivery_type ON partnerkit_delivery (webhook_id, event_type, (id || ''));
CREATE INDEX pk_delivery_business ON partnerkit_delivery (webhook_id, business_id, (id || ''));
CREATE INDEX pk_delivery_event ON partnerkit_delivery (event_id, webhook_id) WHERE event_id IS NOT NULL;
-- Retrying and failed ones, and those that arrived after a retry: few of all.
CREATE INDEX pk_delivery_status ON partnerkit_delivery (webhook_id, status, (id || '')) WHERE status <> 'queued';

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
  webhook_id TEXT NOT NULL DEFAULT '',
  round BIGINT NOT NULL DEFAULT 0,
  response_headers TEXT,
  PRIMARY KEY (delivery_id, id)
);
-- The deliveries that arrived, of which the row of the delivery does not tell.
CREATE INDEX pk_attempt_arrived ON partnerkit_attempt (webhook_id, (delivery_id || '')) WHERE response_code BETWEEN 200 AND 299;

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
