-- +goose Up
-- What apps attach to records of a business. A value is there while its field is not
-- deleted and its space, all that an app has in a business, has not ended: either
-- marks one row, and values that hang on it are purged afterwards.
CREATE TABLE partnerkit_app_data_field (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES partnerkit_app (id) ON DELETE CASCADE,
  resource_type TEXT NOT NULL,
  field_key TEXT NOT NULL,
  type TEXT NOT NULL,
  label TEXT NOT NULL,
  rules TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  deleted_at BIGINT
);
CREATE UNIQUE INDEX pk_app_data_field_key ON partnerkit_app_data_field (app_id, resource_type, field_key) WHERE deleted_at IS NULL;
CREATE INDEX pk_app_data_field_deleted ON partnerkit_app_data_field (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE partnerkit_app_data_space (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL,
  business_id TEXT NOT NULL,
  ended_at BIGINT
);
CREATE UNIQUE INDEX pk_app_data_space_live ON partnerkit_app_data_space (app_id, business_id) WHERE ended_at IS NULL;
CREATE INDEX pk_app_data_space_ended ON partnerkit_app_data_space (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE partnerkit_app_data_value (
  id TEXT PRIMARY KEY,
  space_id TEXT NOT NULL,
  resource_id TEXT NOT NULL,
  field_id TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX pk_app_data_value_place ON partnerkit_app_data_value (resource_id, space_id, field_id);
-- For the purge alone. They are over expressions, so that PostgreSQL never chooses these
-- indexes to read a few records: with wrong estimates it would scan all values of a space
-- or of a field.
CREATE INDEX pk_app_data_value_space ON partnerkit_app_data_value ((space_id || ''), (field_id || ''));
CREATE INDEX pk_app_data_value_field ON partnerkit_app_data_value ((field_id || ''), (space_id || ''));

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (7, 'appdata', 7);
