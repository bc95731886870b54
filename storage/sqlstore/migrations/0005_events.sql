-- +goose Up
-- Events get their numbers after they have committed, under the row of their
-- business's counter, and are then planned, in the order of their numbers.
CREATE TABLE partnerkit_event (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  business_id TEXT NOT NULL,
  app_id TEXT,
  data TEXT NOT NULL,
  number BIGINT,
  created_at BIGINT NOT NULL
);

-- Events up to planned have their deliveries; the next event has those of the webhooks
-- up to planned_webhook. There is a backlog while planned is less than last.
CREATE TABLE partnerkit_event_counter (
  business_id TEXT PRIMARY KEY,
  last BIGINT NOT NULL,
  planned BIGINT NOT NULL DEFAULT 0,
  planned_webhook TEXT NOT NULL DEFAULT ''
);
CREATE INDEX pk_event_counter_backlog ON partnerkit_event_counter (business_id) WHERE planned < last;

-- The first has an order that no other index has, so that PostgreSQL uses it for the
-- events of one business however many it expects. The second is the planner's.
CREATE INDEX pk_event_unnumbered ON partnerkit_event (business_id, created_at, id) WHERE number IS NULL;
CREATE INDEX pk_event_recorded ON partnerkit_event (id) WHERE number IS NULL;
CREATE INDEX pk_event_number ON partnerkit_event (business_id, number) WHERE number IS NOT NULL;

-- What a page looks through; the rows themselves are read for those on it only. Two
-- indexes, since PostgreSQL does not see that rows WHERE app_id IS NULL come out of
-- one over app_id in the order of what follows it.
CREATE INDEX pk_event_seen ON partnerkit_event (business_id, type, number, id) WHERE app_id IS NULL AND number IS NOT NULL;
CREATE INDEX pk_event_own ON partnerkit_event (business_id, app_id, type, number, id) WHERE app_id IS NOT NULL AND number IS NOT NULL;

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (5, 'events', 5);
