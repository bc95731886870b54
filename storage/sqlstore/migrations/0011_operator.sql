-- +goose Up
-- The hosts whose client metadata documents count as reviewed.
CREATE TABLE partnerkit_trusted_document (
  id TEXT PRIMARY KEY,
  host TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL
);

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (11, 'operator', 11);
