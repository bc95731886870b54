CREATE TABLE IF NOT EXISTS event (
  seq         INTEGER PRIMARY KEY,
  id          TEXT    NOT NULL UNIQUE,
  received_at INTEGER NOT NULL,           -- Unix milliseconds, as below
  body        BLOB,                       -- NULL once the work is done: of what is done only the id is kept
  failures    INTEGER NOT NULL DEFAULT 0,
  due_at      INTEGER NOT NULL            -- when to work on it
) STRICT;
CREATE INDEX IF NOT EXISTS pending ON event (due_at, seq) WHERE body IS NOT NULL;

-- Where reading through the Events API has come to, for each business.
CREATE TABLE IF NOT EXISTS place (
  business TEXT PRIMARY KEY,
  after    TEXT NOT NULL
) STRICT;
