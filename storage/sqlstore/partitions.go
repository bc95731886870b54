package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/storage"
)

// On PostgreSQL, deliveries and their attempts can be in a table for each day. Deleting rows costs
// about as much as inserting them, and a vacuum; dropping a table costs almost nothing. Ids begin
// with their time, so the tables are divided by ranges of ids and no other statement changes.
//
//	partnerkit_delivery_before    what was there before the switch: the first partition
//	partnerkit_delivery_20261119  a day (UTC)
//	partnerkit_delivery_other     rows of days that have no table
const (
	// daysAhead is how many days have tables before they begin.
	daysAhead = 7
	// firstDays is how many days after the switch the first partition takes rows. Between two
	// steps of the switch the old table accepts no later rows.
	firstDays = 3
	// lookAtDays is how often Run looks whether a day is missing.
	lookAtDays = time.Hour
	// ddlLock is how long a statement that changes the partitions waits for a lock. If it gets
	// none, it is tried again later.
	ddlLock = "SET LOCAL lock_timeout = '100ms'"
)

// partitionedTables are the tables, and the column with the id of the delivery.
var partitionedTables = []struct{ name, key, primaryKey string }{
	{"partnerkit_delivery", "id", "id"},
	{"partnerkit_attempt", "delivery_id", "delivery_id, id"},
}

// partition is one of the tables of deliveries. Those of attempts have the same bounds.
type partition struct {
	suffix   string // of its name
	from, to string // ids; empty where there is no bound
}

// openDays divides the tables if they are to be, and makes the first days. Tables that were
// divided stay so.
func (s *Store) openDays(ctx context.Context, isAsked bool) error { //nolint:revive // a setting
	if s.db.Dialect().Name != "postgres" {
		return nil
	}
	isDivided, err := s.isDivided(ctx, s.db)
	if err != nil {
		return err
	}
	if !isDivided && !isAsked {
		return s.dropFirstDays(ctx)
	}
	if !isDivided {
		if err := s.divide(ctx); err != nil {
			return fmt.Errorf("divide the tables of deliveries into days: %w", err)
		}
		s.log.InfoContext(ctx, "storage: divided the tables of deliveries into days")
	}
	s.isPartitioned = true
	return s.makeDays(ctx, time.Now())
}

func (s *Store) isDivided(ctx context.Context, from storage.Querier) (is bool, err error) {
	err = storage.One(ctx, from, s.sql.of("SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass('partnerkit_delivery')"), nil, &is)
	if errors.Is(err, storage.ErrNoRows) {
		err = nil // a test of the migrator has other tables
	}
	return is, err
}

// dropCheck ends the check of ids that divide adds for a while.
const dropCheck = " DROP CONSTRAINT IF EXISTS pk_first_days"

// dropFirstDays drops the check of ids that a process left which died while it divided the tables:
// it would reject the rows of later days. Opened with the switch, a store begins again instead.
func (s *Store) dropFirstDays(ctx context.Context) error {
	var isThere bool
	err := storage.One(ctx, s.db, s.sql.of(`SELECT EXISTS (SELECT FROM pg_constraint WHERE conname = 'pk_first_days'
		AND conrelid IN (to_regclass('partnerkit_delivery'), to_regclass('partnerkit_attempt')))`), nil, &isThere)
	if err != nil || !isThere {
		return err
	}
	return s.db.Migrate(ctx, func(ctx context.Context, on storage.Tx) error {
		for _, t := range partitionedTables {
			if _, err := on.Exec(ctx, s.sql.of("ALTER TABLE "+t.name)+dropCheck); err != nil {
				return err
			}
		}
		return nil
	})
}

// divide makes the table that there is the first partition. A check of its ids comes first,
// while others go on: with it, PostgreSQL need not read the table while everybody waits.
func (s *Store) divide(ctx context.Context) error {
	lone, ok := s.db.(loneMigrator)
	if !ok {
		return errors.New("only on PostgreSQL")
	}
	end := id.Floor(id.Delivery, day(time.Now()).AddDate(0, 0, firstDays))
	each := func(ctx context.Context, on storage.Tx, statement func(name, key, primaryKey string) string) error {
		isDivided, err := s.isDivided(ctx, on) // by another node
		if err != nil || isDivided {
			return err
		}
		for _, t := range partitionedTables {
			if _, err := on.Exec(ctx, statement(t.name, t.key, t.primaryKey)); err != nil {
				return err
			}
		}
		return nil
	}
	err := s.db.Migrate(ctx, func(ctx context.Context, on storage.Tx) error {
		return each(ctx, on, func(name, key, _ string) string {
			return s.sql.of("ALTER TABLE "+name) + dropCheck + ", ADD CONSTRAINT pk_first_days CHECK (" + key + " < '" + end + "') NOT VALID"
		})
	})
	if err != nil {
		return err
	}
	err = lone.MigrateAlone(ctx, func(ctx context.Context, on storage.Tx) error {
		return each(ctx, on, func(name, _, _ string) string {
			return s.sql.of("ALTER TABLE "+name) + " VALIDATE CONSTRAINT pk_first_days"
		})
	})
	if err == nil {
		err = s.db.Migrate(ctx, func(ctx context.Context, on storage.Tx) error {
			return each(ctx, on, func(name, key, primaryKey string) string {
				old := name + "_before"
				return s.sql.of("ALTER TABLE "+name) + " RENAME TO " + old + ";" +
					s.sql.of("CREATE TABLE "+name+" (LIKE "+old+" INCLUDING DEFAULTS, PRIMARY KEY ("+primaryKey+")) PARTITION BY RANGE ("+key+");") +
					s.sql.of(partitionIndexes[name]) +
					s.sql.of("ALTER TABLE "+name+" ATTACH PARTITION "+old+" FOR VALUES FROM (MINVALUE) TO ('"+end+"');") +
					s.sql.of("ALTER TABLE "+old) + dropCheck + ";" +
					s.sql.of("CREATE TABLE "+name+"_other PARTITION OF "+name+" DEFAULT")
			})
		})
	}
	if err == nil {
		return nil
	}
	// The check must not stay: it would reject the rows of later days.
	undo := func(ctx context.Context, on storage.Tx) error {
		return each(ctx, on, func(name, _, _ string) string { return s.sql.of("ALTER TABLE "+name) + dropCheck })
	}
	return errors.Join(err, s.db.Migrate(context.WithoutCancel(ctx), undo))
}

// partitionIndexes are the indexes of the divided tables. Those of the table that there was
// become parts of them.
var partitionIndexes = map[string]string{
	"partnerkit_delivery": `CREATE INDEX pk_delivery_webhook_days ON partnerkit_delivery (webhook_id, (id || ''));
CREATE INDEX pk_delivery_business_days ON partnerkit_delivery (webhook_id, business_id, (id || ''));
CREATE INDEX pk_delivery_event_days ON partnerkit_delivery (event_id, webhook_id) WHERE event_id IS NOT NULL;
CREATE INDEX pk_delivery_status_days ON partnerkit_delivery (webhook_id, status, (id || '')) WHERE status IS NOT NULL;`,
}

func day(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

// keepDays makes the tables of the next days, until ctx ends.
func (s *Store) keepDays(ctx context.Context) {
	for s.isPartitioned && ctx.Err() == nil {
		pause(ctx, lookAtDays)
		if err := s.makeDays(ctx, time.Now()); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "storage: making the tables of the next days failed, trying again", "err", err)
		}
	}
}

// makeDays makes the tables of the next days that are missing. A day of which there are rows
// already has no table.
func (s *Store) makeDays(ctx context.Context, now time.Time) error {
	parts, err := s.partitions(ctx, s.db)
	if err != nil {
		return err
	}
	for n := range daysAhead + 1 {
		begin := day(now).AddDate(0, 0, n)
		p := partition{begin.Format("20060102"), id.Floor(id.Delivery, begin), id.Floor(id.Delivery, begin.AddDate(0, 0, 1))}
		isThere := slices.ContainsFunc(parts, func(one partition) bool {
			return one.to != "" && one.from <= p.from && p.from < one.to
		})
		if isThere {
			continue
		}
		err := s.write(ctx, func(ctx context.Context, tx *tx) error {
			if _, err := tx.on.Exec(ctx, ddlLock); err != nil {
				return err
			}
			for _, t := range partitionedTables {
				text := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s_%s PARTITION OF %s FOR VALUES FROM ('%s') TO ('%s')", t.name, p.suffix, t.name, p.from, p.to)
				if _, err := tx.on.Exec(ctx, tx.sql.qualified(text)); err != nil {
					return err
				}
			}
			return nil
		})
		switch {
		case errors.Is(err, storage.ErrBusy): // another time
			return nil
		case hasState(err, "23514"): // check_violation
			s.log.WarnContext(ctx, "storage: a day has rows outside of its table; they are deleted one by one", "day", p.suffix)
		case hasState(err, "42P07"), hasState(err, "23505"): // another node was first
		case err != nil:
			return fmt.Errorf("table of %s: %w", p.suffix, err)
		}
	}
	return nil
}

func hasState(err error, code string) bool {
	var coded interface{ SQLState() string }
	return errors.As(err, &coded) && coded.SQLState() == code
}

// boundsText is how PostgreSQL writes those of a partition.
var boundsText = regexp.MustCompile(`^FOR VALUES FROM \((MINVALUE|'[^']*')\) TO \('([^']*)'\)$`)

// partitions returns the tables of deliveries, the oldest first.
func (s *Store) partitions(ctx context.Context, from storage.Querier) (parts []partition, err error) {
	const prefix = "partnerkit_delivery_"
	err = storage.Each(ctx, from, s.sql.of(`SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = to_regclass('partnerkit_delivery')`), nil, func(scan func(...any) error) error {
		var name, text string
		err := scan(&name, &text)
		p := partition{suffix: strings.TrimPrefix(name, prefix)}
		if found := boundsText.FindStringSubmatch(text); found != nil {
			p.from, p.to = strings.Trim(strings.TrimPrefix(found[1], "MINVALUE"), "'"), found[2]
		}
		parts = append(parts, p)
		return err
	})
	slices.SortFunc(parts, func(a, b partition) int { return strings.Compare(a.from, b.from) })
	return parts, err
}

// dropDays drops the tables of which every delivery is older than an id. It returns the id
// behind which the rest must not be deleted one by one: where the oldest day begins.
func (s *Store) dropDays(ctx context.Context, before string) (oldestDay string, err error) {
	parts, err := s.partitions(ctx, s.db)
	if err != nil {
		return "", err
	}
	for _, p := range parts {
		if p.to == "" || p.to > before {
			if p.from != "" && oldestDay == "" {
				oldestDay = p.from
			}
			continue
		}
		err := s.write(ctx, func(ctx context.Context, tx *tx) error {
			if _, err := tx.on.Exec(ctx, ddlLock); err != nil {
				return err
			}
			if _, err := tx.exec(ctx, "DELETE FROM partnerkit_delivery_queue WHERE delivery_id >= $1 AND delivery_id < $2", p.from, p.to); err != nil {
				return err
			}
			for _, t := range partitionedTables {
				if _, err := tx.on.Exec(ctx, tx.sql.qualified("DROP TABLE IF EXISTS "+t.name+"_"+p.suffix)); err != nil {
					return err
				}
			}
			return nil
		})
		if errors.Is(err, storage.ErrBusy) {
			return cmp.Or(p.from, p.to), nil // another time; until then no row of a day is deleted
		}
		if err != nil {
			return "", fmt.Errorf("drop the tables of deliveries of %s: %w", p.suffix, err)
		}
		s.log.InfoContext(ctx, "storage: dropped the tables of deliveries of a day", "day", p.suffix)
	}
	return oldestDay, nil
}
