-- minimum: 1
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
  created_at BIGINT NOT NULL
);
-- Over an expression, as pk_delivery_webhook is.
CREATE INDEX pk_audit_app ON partnerkit_audit (app_id, (id || ''));
