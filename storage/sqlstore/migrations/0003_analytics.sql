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

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (3, 'analytics', 3);
