-- +goose Up
-- Counts of long windows of rate limits, for a node that restarts without Redis.
CREATE TABLE partnerkit_limit_window (
  limit_key BYTEA NOT NULL,
  length BIGINT NOT NULL,
  ends_at BIGINT NOT NULL,
  calls BIGINT NOT NULL,
  PRIMARY KEY (limit_key, length, ends_at)
);
CREATE INDEX pk_limit_window_ends ON partnerkit_limit_window (ends_at);

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (14, 'limits', 12);
