-- +goose Up
-- The health of webhooks. health_epoch grows when a webhook is switched on again, so that
-- attempts from before do not count. failing_since is the first failed attempt after the
-- last successful one. warned_at is when the webhook was found to be failing; before
-- failing_since it means that it was failing earlier.
ALTER TABLE partnerkit_webhook ADD COLUMN health_epoch BIGINT NOT NULL DEFAULT 0;

-- The attempts of a webhook that started in a minute, and when the newest of them started;
-- 0: there is none. The columns of latencies are those of partnerkit_calls.
CREATE TABLE partnerkit_webhook_minute (
  webhook_id TEXT NOT NULL,
  epoch BIGINT NOT NULL,
  minute_at BIGINT NOT NULL,
  succeeded BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  succeeded_at BIGINT NOT NULL,
  failed_at BIGINT NOT NULL,
  ms_5 BIGINT NOT NULL DEFAULT 0,
  ms_10 BIGINT NOT NULL DEFAULT 0,
  ms_25 BIGINT NOT NULL DEFAULT 0,
  ms_50 BIGINT NOT NULL DEFAULT 0,
  ms_100 BIGINT NOT NULL DEFAULT 0,
  ms_250 BIGINT NOT NULL DEFAULT 0,
  ms_500 BIGINT NOT NULL DEFAULT 0,
  ms_1000 BIGINT NOT NULL DEFAULT 0,
  ms_2500 BIGINT NOT NULL DEFAULT 0,
  ms_5000 BIGINT NOT NULL DEFAULT 0,
  ms_10000 BIGINT NOT NULL DEFAULT 0,
  ms_over BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (webhook_id, epoch, minute_at)
) /* keyed */;
CREATE INDEX pk_webhook_minute ON partnerkit_webhook_minute (minute_at);

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (13, 'health', 12);
