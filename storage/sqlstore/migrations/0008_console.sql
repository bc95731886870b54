-- +goose Up
-- Who did what. No row of the app is needed: the log may outlive an app that is
-- purged. app_id is empty for what is about no app. Purged by ids, which sort by
-- time.
CREATE TABLE partnerkit_audit (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  by_developer BOOLEAN NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  detail TEXT NOT NULL,
  reason TEXT NOT NULL,
  token TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
-- Over an expression, as pk_delivery_webhook is.
CREATE INDEX pk_audit_app ON partnerkit_audit (app_id, (id || ''));
-- The log of what is about no app, by the organization that it was done for.
CREATE INDEX pk_audit_organization ON partnerkit_audit (target, (id || '')) WHERE app_id = '' AND by_developer;

-- Tokens with which scripts call the console. The creator's membership is asked of the
-- host at each call.
CREATE TABLE partnerkit_console_token (
  id TEXT PRIMARY KEY,
  digest BYTEA NOT NULL UNIQUE,
  organization_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  revoked_at BIGINT
);
CREATE INDEX pk_console_token_organization ON partnerkit_console_token (organization_id, id);

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (8, 'console', 8);
