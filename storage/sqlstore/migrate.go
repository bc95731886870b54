package sqlstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

//go:embed migrations/*.sql
var embedded embed.FS

// Migrations returns the migrations as files, for hosts that apply them with a
// tool of their own: NNNN_name.sql, to be run in order, each once.
//
// The first line of a file is a comment "-- minimum: N": the code that knows
// migration N and no later one can still work after this one. Additive
// migrations keep the minimum where it was, so that nodes with older code go on
// while newer ones are rolled out. Such a tool also writes the rows of
// partnerkit_migration, as file 0001 explains. On SQLite it may put WITHOUT ROWID for
// each comment "keyed", which makes those tables smaller and faster, and nothing else.
func Migrations() fs.FS {
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		panic(err) // the directory is part of the binary
	}
	return files
}

// migration is one file.
type migration struct {
	number, minimum int
	name, sql       string
}

var (
	fileName    = regexp.MustCompile(`^(\d{4})_([a-z0-9_]+)\.sql$`)
	minimumLine = regexp.MustCompile(`^-- minimum: (\d+)\n`)
)

// readMigrations refuses gaps and files without a minimum: the order of
// migrations is the one thing that may never be guessed.
func readMigrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	var all []migration
	for i, name := range names { // sorted by name
		parts := fileName.FindStringSubmatch(path.Base(name))
		if parts == nil || parts[1] != fmt.Sprintf("%04d", i+1) {
			return nil, fmt.Errorf("migration %s: want %04d_name.sql in its place", name, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		line := minimumLine.FindSubmatch(text)
		if line == nil {
			return nil, fmt.Errorf("migration %s: its first line is not \"-- minimum: N\"", name)
		}
		minimum, err := strconv.Atoi(string(line[1]))
		if err != nil || minimum > i+1 {
			return nil, fmt.Errorf("migration %s: minimum %s is beyond it", name, line[1])
		}
		all = append(all, migration{number: i + 1, minimum: minimum, name: parts[2], sql: string(text)})
	}
	return all, nil
}

// migrate applies what is missing, all of it in one transaction.
func (s *Store) migrate(ctx context.Context, cfg Config) error {
	known, err := readMigrations(cfg.Migrations)
	if err != nil {
		return err
	}
	if cfg.SkipMigrations {
		return s.checkSchema(ctx, known)
	}
	var applied []migration
	err = s.db.Migrate(ctx, func(ctx context.Context, on storage.Tx) error {
		applied = nil
		tx := &tx{on: on, sql: s.sql, dialect: s.db.Dialect()}
		if _, err := tx.on.Exec(ctx, tx.sql.of(createMigrations)); err != nil {
			return fmt.Errorf("create the table of migrations: %w", err)
		}
		have, err := schemaVersion(ctx, tx.on, tx.sql, len(known))
		if err != nil {
			return err
		}
		for _, m := range known[min(have, len(known)):] {
			if err := tx.apply(ctx, m); err != nil {
				return fmt.Errorf("migration %04d_%s: %w", m.number, m.name, err)
			}
			applied = append(applied, m)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, m := range applied {
		s.log.InfoContext(ctx, "storage: migrated", "number", m.number, "name", m.name)
	}
	return nil
}

const createMigrations = `CREATE TABLE IF NOT EXISTS partnerkit_migration (
	number BIGINT PRIMARY KEY,
	name TEXT NOT NULL,
	minimum BIGINT NOT NULL,
	applied_at BIGINT NOT NULL
)`

func (t *tx) apply(ctx context.Context, m migration) error {
	if _, err := t.on.Exec(ctx, t.sql.of(strings.ReplaceAll(m.sql, " /* keyed */", t.dialect.Keyed))); err != nil {
		return err
	}
	_, err := t.on.Exec(ctx, t.sql.of("INSERT INTO partnerkit_migration (number, name, minimum, applied_at) VALUES ($1, $2, $3, $4)"),
		m.number, m.name, m.minimum, time.Now().UnixMilli())
	return err
}

// schemaVersion returns the number of the last migration. It is an error when
// code that knows only the first known ones cannot work with it.
func schemaVersion(ctx context.Context, from storage.Querier, sql *sqlText, known int) (int, error) {
	var have, minimum int
	err := storage.One(ctx, from, sql.of("SELECT COALESCE(MAX(number), 0), COALESCE(MAX(minimum), 0) FROM partnerkit_migration"), nil, &have, &minimum)
	if err != nil {
		return 0, fmt.Errorf("read the table of migrations: %w", err)
	}
	if minimum > known {
		return 0, fmt.Errorf("%w: migration %d of it asks for code that knows migration %d, this code knows %d; start a newer version", storage.ErrNewerSchema, have, minimum, known)
	}
	return have, nil
}

func (s *Store) checkSchema(ctx context.Context, known []migration) error {
	have, err := schemaVersion(ctx, s.db, s.sql, len(known))
	if err != nil {
		return err
	}
	if have < len(known) {
		return errors.New("the database lacks migrations " + fmt.Sprintf("%d to %d; apply them, or leave SkipMigrations off", have+1, len(known)))
	}
	return nil
}
