-- +goose Up
-- Secrets are sealed by the host's keyring. A deleted webhook stays while its
-- deliveries may, so that they know why they are not sent. failing_since is when the first
-- attempt failed after the last one that arrived, and failed_count is how many deliveries
-- have used up their attempts since then. unverified_since is when the webhook was made or its URL
-- changed, until its endpoint has answered a challenge; challenge_at is when a challenge was asked
-- for that nobody has taken. challenges counts those since challenges_since.
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
  unverified_since BIGINT,
  challenge_at BIGINT,
  challenge_error TEXT,
  challenges BIGINT NOT NULL DEFAULT 0,
  challenges_since BIGINT NOT NULL DEFAULT 0,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  deleted_at BIGINT
);
CREATE INDEX pk_webhook_app ON partnerkit_webhook (app_id, id) WHERE deleted_at IS NULL;
CREATE INDEX pk_webhook_challenge ON partnerkit_webhook (id) WHERE challenge_at IS NOT NULL;
CREATE INDEX pk_webhook_deleted ON partnerkit_webhook (deleted_at) WHERE deleted_at IS NOT NULL;

-- event_id and sequence are NULL for a test. Purged by ids, which sort by time. An event
-- is planned once, so that a webhook gets it once. status is NULL until the first attempt
-- of a round has failed: the delivery is queued, or that attempt has arrived, which the row of
-- the attempt tells. round is how often the delivery was sent again.
CREATE TABLE partnerkit_delivery (
  id TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  event_id TEXT,
  event_type TEXT NOT NULL,
  business_id TEXT NOT NULL,
  body BYTEA NOT NULL,
  status TEXT,
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
CREATE INDEX pk_delivery_business ON partnerkit_delivery (webhook_id, business_id, (id || ''));
CREATE INDEX pk_delivery_event ON partnerkit_delivery (event_id, webhook_id) WHERE event_id IS NOT NULL;
-- Retrying and failed ones, and those that arrived after a retry: few of all.
CREATE INDEX pk_delivery_status ON partnerkit_delivery (webhook_id, status, (id || '')) WHERE status IS NOT NULL;

CREATE TABLE partnerkit_attempt (
  delivery_id TEXT NOT NULL,
  id TEXT NOT NULL,
  round BIGINT NOT NULL,
  number BIGINT NOT NULL,
  signature TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  took_ms BIGINT NOT NULL,
  response_code BIGINT,
  error TEXT,
  response_headers TEXT,
  answer BYTEA,
  PRIMARY KEY (delivery_id, id)
) /* keyed */;

-- What is queued or retrying, and nothing else: a delivery that ends leaves. shard is a hash
-- of the webhook, see webhooks.ShardOf.
CREATE TABLE partnerkit_delivery_queue (
  shard BIGINT NOT NULL,
  webhook_id TEXT NOT NULL,
  due_at BIGINT NOT NULL,
  delivery_id TEXT NOT NULL,
  PRIMARY KEY (shard, webhook_id, due_at, delivery_id)
) /* keyed */;

-- When which webhooks have attempts to repeat.
CREATE TABLE partnerkit_webhook_due (
  shard BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  webhook_id TEXT NOT NULL,
  PRIMARY KEY (shard, due_at, webhook_id)
) /* keyed */;

-- Who works on what. Leases are in real time. A plan shard is a part of the businesses, whose
-- events are turned into deliveries; a send shard is a part of the webhooks. The console
-- shard has no holder: those who queue deliveries by hand use its feed. news is the number of
-- the last entry of the shard's feed.
CREATE TABLE partnerkit_dispatcher (
  id TEXT PRIMARY KEY,
  lease_ends BIGINT NOT NULL
);
CREATE TABLE partnerkit_shard (
  kind TEXT NOT NULL,
  id BIGINT NOT NULL,
  holder TEXT NOT NULL,
  epoch BIGINT NOT NULL,
  lease_ends BIGINT NOT NULL,
  news BIGINT NOT NULL,
  PRIMARY KEY (kind, id)
);
-- How many shards of each kind there are. One row, written when the database is made.
CREATE TABLE partnerkit_sharding (
  id BIGINT PRIMARY KEY,
  shards BIGINT NOT NULL
);
-- Which webhooks got deliveries that are due at once: the last entries of each feed, without
-- gaps, in the order of their commits. The feeds are those of the plan shards, and -1.
CREATE TABLE partnerkit_queue_news (
  feed BIGINT NOT NULL,
  number BIGINT NOT NULL,
  webhooks TEXT NOT NULL,
  PRIMARY KEY (feed, number)
) /* keyed */;

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (6, 'webhooks', 6);
