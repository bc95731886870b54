-- +goose Up
-- Calls by app and UTC hour. No row of the app is needed: counting never fails,
-- and what was counted may outlive an app that is purged. The columns of
-- latencies are named by their upper bound in milliseconds.

CREATE TABLE partnerkit_calls (
  app_id TEXT NOT NULL,
  hour_at BIGINT NOT NULL,
  calls BIGINT NOT NULL,
  errors BIGINT NOT NULL,
  rate_limited BIGINT NOT NULL,
  ms_5 BIGINT NOT NULL,
  ms_10 BIGINT NOT NULL,
  ms_25 BIGINT NOT NULL,
  ms_50 BIGINT NOT NULL,
  ms_100 BIGINT NOT NULL,
  ms_250 BIGINT NOT NULL,
  ms_500 BIGINT NOT NULL,
  ms_1000 BIGINT NOT NULL,
  ms_2500 BIGINT NOT NULL,
  ms_5000 BIGINT NOT NULL,
  ms_10000 BIGINT NOT NULL,
  ms_over BIGINT NOT NULL,
  PRIMARY KEY (app_id, hour_at)
);
CREATE INDEX pk_calls_hour ON partnerkit_calls (hour_at);

-- The last batch that each counter has added, so that none is added twice.
CREATE TABLE partnerkit_calls_writer (
  id TEXT PRIMARY KEY,
  number BIGINT NOT NULL,
  added_at BIGINT NOT NULL
);
CREATE INDEX pk_calls_writer_added ON partnerkit_calls_writer (added_at);

-- Calls by app and UTC day, grouped by route, by status and by business. Groups by business
-- are the usage, which is kept for longer.
CREATE TABLE partnerkit_calls_group (
  app_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  day_at BIGINT NOT NULL,
  name TEXT NOT NULL,
  calls BIGINT NOT NULL,
  errors BIGINT NOT NULL,
  rate_limited BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  PRIMARY KEY (app_id, kind, day_at, name)
);
-- Over an expression, so that only the purges take them and no read of one app's groups.
CREATE INDEX pk_calls_group_day ON partnerkit_calls_group ((day_at + 0)) WHERE kind <> 'business';
CREATE INDEX pk_calls_usage_day ON partnerkit_calls_group ((day_at + 0)) WHERE kind = 'business';

-- The last calls of each app. Purged by ids, which sort by time.
CREATE TABLE partnerkit_request (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL,
  business_id TEXT NOT NULL,
  method TEXT NOT NULL,
  route TEXT NOT NULL,
  status BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  code TEXT NOT NULL,
  request_id TEXT NOT NULL,
  error TEXT NOT NULL,
  took BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);
-- Over an expression, as pk_delivery_webhook is.
CREATE INDEX pk_request_app ON partnerkit_request (app_id, (id || ''));

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (3, 'analytics', 3);
