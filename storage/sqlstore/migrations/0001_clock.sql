-- +goose Up
-- The migrations that were applied. Every file ends with the statement that records it.
-- Code that knows migrations up to minimum, and none after, can work with the tables.
CREATE TABLE IF NOT EXISTS partnerkit_migration (
  number BIGINT PRIMARY KEY,
  name TEXT NOT NULL,
  minimum BIGINT NOT NULL
);

-- How far the clock of development mode was moved. At most one row.
CREATE TABLE partnerkit_clock (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  offset_ms BIGINT NOT NULL
);

-- How far the rows that were there before a column are filled: up to the key in place.
CREATE TABLE partnerkit_backfill (
  name TEXT PRIMARY KEY,
  place TEXT NOT NULL,
  is_done BOOLEAN NOT NULL
);

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (1, 'clock', 1);
