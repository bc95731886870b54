-- +goose Up
-- An event is written once and never changed.
CREATE TABLE partnerkit_event (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  business_id TEXT NOT NULL,
  app_id TEXT,
  data TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

-- The outbox: events that do not have all their deliveries yet. shard is a hash of the
-- business, see webhooks.ShardOf. number is 0 until the event has one, and the deliveries of
-- the webhooks up to webhook_id are made.
CREATE TABLE partnerkit_outbox (
  shard BIGINT NOT NULL,
  business_id TEXT NOT NULL,
  number BIGINT NOT NULL,
  event_id TEXT NOT NULL,
  webhook_id TEXT NOT NULL,
  PRIMARY KEY (shard, business_id, number, event_id)
) /* keyed */;

-- Events get their numbers after they have committed, under the row of their business's
-- counter. app_id is empty for the events of the business.
CREATE TABLE partnerkit_event_counter (
  business_id TEXT PRIMARY KEY,
  last BIGINT NOT NULL
) /* keyed */;
CREATE TABLE partnerkit_event_number (
  event_id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  type TEXT NOT NULL,
  number BIGINT NOT NULL
) /* keyed */;
-- What a page of the Events API reads; the events themselves are read for those on it only.
CREATE INDEX pk_event_number ON partnerkit_event_number (business_id, app_id, type, number, event_id);

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (5, 'events', 5);
