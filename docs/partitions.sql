-- Deliveries and their attempts in a table for each day, on PostgreSQL 12 or later; see
-- operations.md. Run it once, with the schema of the tables first on the search path:
--
--   psql --single-transaction -v ON_ERROR_STOP=1 -f partitions.sql
--
-- What is there already becomes the first partition as it is; while it is read through
-- once, sending waits.

-- The least id of a day. Ids begin with their time in base 32: nine characters are
-- milliseconds, divided by eight.
CREATE FUNCTION partnerkit_first_of(day date) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'dlv_' || string_agg(substr('0123456789abcdefghijklmnopqrstuv', 1 + ((n >> (5 * i)) & 31)::int, 1), '' ORDER BY i DESC)
  FROM generate_series(0, 8) i, (SELECT (extract(epoch FROM day) * 125)::bigint AS n) t
$$;

-- Adds the tables of a day (UTC), unless they are there.
CREATE FUNCTION partnerkit_add_day(day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  suffix text := to_char(day, 'YYYYMMDD');
BEGIN
  IF to_regclass('partnerkit_delivery_' || suffix) IS NOT NULL THEN
    RETURN;
  END IF;
  EXECUTE format('CREATE TABLE %I PARTITION OF partnerkit_delivery FOR VALUES FROM (%L) TO (%L)',
    'partnerkit_delivery_' || suffix, partnerkit_first_of(day), partnerkit_first_of(day + 1));
  EXECUTE format('CREATE UNIQUE INDEX ON %I (event_id, webhook_id) WHERE event_id IS NOT NULL', 'partnerkit_delivery_' || suffix);
  EXECUTE format('CREATE TABLE %I PARTITION OF partnerkit_attempt FOR VALUES FROM (%L) TO (%L)',
    'partnerkit_attempt_' || suffix, partnerkit_first_of(day), partnerkit_first_of(day + 1));
END $$;

-- Drops the tables of days before that one, and what of them is still in the queue.
CREATE FUNCTION partnerkit_drop_days(before date) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  old record;
  dropped int := 0;
BEGIN
  DELETE FROM partnerkit_delivery_queue WHERE delivery_id < partnerkit_first_of(before);
  FOR old IN SELECT inhrelid::regclass AS name, relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent IN ('partnerkit_delivery'::regclass, 'partnerkit_attempt'::regclass)
      AND relname ~ '_[0-9]{8}$' AND right(relname, 8) < to_char(before, 'YYYYMMDD') ORDER BY relname
  LOOP
    EXECUTE format('DROP TABLE %s', old.name);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;

ALTER TABLE partnerkit_delivery RENAME TO partnerkit_delivery_before;
CREATE TABLE partnerkit_delivery (LIKE partnerkit_delivery_before INCLUDING DEFAULTS, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE INDEX pk_delivery_webhook_days ON partnerkit_delivery (webhook_id, (id || ''));
CREATE INDEX pk_delivery_business_days ON partnerkit_delivery (webhook_id, business_id, (id || ''));
CREATE INDEX pk_delivery_event_days ON partnerkit_delivery (event_id, webhook_id) WHERE event_id IS NOT NULL;
CREATE INDEX pk_delivery_status_days ON partnerkit_delivery (webhook_id, status, (id || '')) WHERE status IS NOT NULL;
ALTER TABLE partnerkit_attempt RENAME TO partnerkit_attempt_before;
CREATE TABLE partnerkit_attempt (LIKE partnerkit_attempt_before INCLUDING DEFAULTS, PRIMARY KEY (delivery_id, id)) PARTITION BY RANGE (delivery_id);

-- Today ends in the table that there was. What no day takes goes into the default.
DO $$
DECLARE
  tomorrow date := (now() AT TIME ZONE 'UTC')::date + 1;
BEGIN
  EXECUTE format('ALTER TABLE partnerkit_delivery ATTACH PARTITION partnerkit_delivery_before FOR VALUES FROM (MINVALUE) TO (%L)', partnerkit_first_of(tomorrow));
  EXECUTE format('ALTER TABLE partnerkit_attempt ATTACH PARTITION partnerkit_attempt_before FOR VALUES FROM (MINVALUE) TO (%L)', partnerkit_first_of(tomorrow));
  PERFORM partnerkit_add_day(tomorrow + i) FROM generate_series(0, 6) i;
END $$;
CREATE TABLE partnerkit_delivery_other PARTITION OF partnerkit_delivery DEFAULT;
CREATE TABLE partnerkit_attempt_other PARTITION OF partnerkit_attempt DEFAULT;
