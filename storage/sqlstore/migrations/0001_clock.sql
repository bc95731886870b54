-- minimum: 1
-- A tool that applies these files instead of the library creates
-- partnerkit_migration first and adds one row for each file it has run:
--   CREATE TABLE partnerkit_migration (number BIGINT PRIMARY KEY, name TEXT NOT NULL,
--     minimum BIGINT NOT NULL, applied_at BIGINT NOT NULL);

-- How far the clock of development mode was moved. At most one row.
CREATE TABLE partnerkit_clock (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  offset_ms BIGINT NOT NULL
);
