-- minimum: 1
-- Events get their numbers after they have committed, under the row of their
-- business's counter, and are planned: turned into deliveries.
ALTER TABLE partnerkit_event ADD COLUMN number BIGINT;
ALTER TABLE partnerkit_event ADD COLUMN planned BOOLEAN NOT NULL DEFAULT FALSE;

CREATE TABLE partnerkit_event_counter (
  business_id TEXT PRIMARY KEY,
  last BIGINT NOT NULL
);

-- In an order that no other index has: whoever asks for it gets this one, whatever
-- PostgreSQL believes about how many there are.
CREATE INDEX pk_event_unnumbered ON partnerkit_event (business_id, created_at, id) WHERE number IS NULL;
CREATE INDEX pk_event_unplanned ON partnerkit_event (id) WHERE planned = FALSE;

-- What a page looks through; the rows themselves are read for those on it only. Two
-- indexes, since PostgreSQL does not see that rows WHERE app_id IS NULL come out of
-- one over app_id in the order of what follows it.
CREATE INDEX pk_event_seen ON partnerkit_event (business_id, type, number, id) WHERE app_id IS NULL AND number IS NOT NULL;
CREATE INDEX pk_event_own ON partnerkit_event (business_id, app_id, type, number, id) WHERE app_id IS NOT NULL AND number IS NOT NULL;
