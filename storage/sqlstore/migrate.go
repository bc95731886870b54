package sqlstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/partnerkit/partnerkit/storage"
)

//go:embed migrations/*.sql
var embedded embed.FS

// Migrations returns the migrations as files NNNN_name.sql, for hosts that apply them with
// their own tool, such as goose, atlas or psql: in order, each once. The files are in
// storage/sqlstore/migrations of the module. A file ends with the statement that records
// it in partnerkit_migration.
//
// The minimum that a file records is the last migration that code must know to work with
// the tables after it. Additive migrations keep the minimum where it was, so that nodes
// with older code go on while newer ones are rolled out.
//
// A file that says "+goose NO TRANSACTION" builds indexes concurrently, so that nobody waits who
// writes meanwhile. On SQLite a tool leaves out the word CONCURRENTLY.
//
// On SQLite a tool may replace each comment "keyed" by WITHOUT ROWID, which makes those
// tables smaller and faster.
func Migrations() fs.FS {
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		panic(err) // the directory is part of the binary
	}
	return files
}

// migration is one file.
type migration struct {
	number    int
	name, sql string
	isAlone   bool // its statements run without a transaction
}

// noTransaction marks a file whose statements cannot run in a transaction.
var noTransaction = regexp.MustCompile(`(?m)^-- \+goose NO TRANSACTION$`)

var fileName = regexp.MustCompile(`^(\d{4})_([a-z0-9_]+)\.sql$`)

// readMigrations reads the files in order. It rejects gaps.
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
		all = append(all, migration{number: i + 1, name: parts[2], sql: string(text), isAlone: noTransaction.Match(text)})
	}
	return all, nil
}

// loneMigrator is a database that can run a migration without a transaction.
type loneMigrator interface {
	MigrateAlone(ctx context.Context, act storage.Operation) error
}

// migrate applies what is missing, each file in a transaction of its own: others may be using
// the tables.
func (s *Store) migrate(ctx context.Context, cfg Config) error {
	known, err := readMigrations(cfg.Migrations)
	if err != nil {
		return err
	}
	if cfg.SkipMigrations {
		return s.checkSchema(ctx, known)
	}
	for {
		applied, err := s.migrateNext(ctx, known)
		if err != nil {
			return err
		}
		if len(applied) == 0 {
			return nil
		}
		for _, m := range applied {
			s.log.InfoContext(ctx, "storage: migrated", "number", m.number, "name", m.name)
		}
	}
}

// migrateNext applies the next file, or all of them when nobody else uses the tables: on an
// empty database, and on one of a single process.
func (s *Store) migrateNext(ctx context.Context, known []migration) (applied []migration, err error) {
	lone, canAlone := s.db.(loneMigrator)
	isNextAlone := false
	err = s.db.Migrate(ctx, func(ctx context.Context, on storage.Tx) error {
		applied, isNextAlone = nil, false
		tx := &tx{on: on, sql: s.sql, dialect: s.db.Dialect()}
		if _, err := tx.on.Exec(ctx, tx.sql.of(createMigrations)); err != nil {
			return fmt.Errorf("create the table of migrations: %w", err)
		}
		have, err := schemaVersion(ctx, tx.on, tx.sql, len(known))
		if err != nil {
			return err
		}
		next := known[min(have, len(known)):]
		if have > 0 && !tx.dialect.IsOneProcess {
			next = next[:min(1, len(next))]
			isNextAlone = canAlone && len(next) == 1 && next[0].isAlone
		}
		if isNextAlone {
			applied = next
			return nil
		}
		for _, m := range next {
			m.sql = strings.ReplaceAll(m.sql, " CONCURRENTLY", "")
			if err := tx.apply(ctx, m); err != nil {
				return fmt.Errorf("migration %04d_%s: %w", m.number, m.name, err)
			}
			applied = append(applied, m)
		}
		return nil
	})
	if err != nil || !isNextAlone {
		return applied, err
	}
	err = lone.MigrateAlone(ctx, func(ctx context.Context, on storage.Tx) error {
		tx := &tx{on: on, sql: s.sql, dialect: s.db.Dialect()}
		have, err := schemaVersion(ctx, on, s.sql, len(known))
		if err != nil || have >= applied[0].number { // another process was first
			return err
		}
		if err := tx.applyAlone(ctx, applied[0]); err != nil {
			return fmt.Errorf("migration %04d_%s: %w", applied[0].number, applied[0].name, err)
		}
		return nil
	})
	return applied, err
}

// createMigrations is as in the first migration.
const createMigrations = `CREATE TABLE IF NOT EXISTS partnerkit_migration (
	number BIGINT PRIMARY KEY,
	name TEXT NOT NULL,
	minimum BIGINT NOT NULL
)`

// apply runs a migration and checks that it recorded itself.
func (t *tx) apply(ctx context.Context, m migration) error {
	if _, err := t.on.Exec(ctx, t.sql.of(strings.ReplaceAll(m.sql, " /* keyed */", t.dialect.Keyed))); err != nil {
		return err
	}
	return t.checkRecorded(ctx, m)
}

var commentLine = regexp.MustCompile(`(?m)^\s*--.*$`)

// applyAlone runs the statements of a migration one after the other.
func (t *tx) applyAlone(ctx context.Context, m migration) error {
	for statement := range strings.SplitSeq(commentLine.ReplaceAllString(m.sql, ""), ";\n") {
		statement = strings.TrimRight(strings.TrimSpace(statement), ";")
		if statement == "" {
			continue
		}
		if _, err := t.on.Exec(ctx, t.sql.of(statement)); err != nil {
			return err
		}
	}
	return t.checkRecorded(ctx, m)
}

// checkRecorded checks that a migration recorded itself.
func (t *tx) checkRecorded(ctx context.Context, m migration) error {
	var minimum int
	err := t.one(ctx, "SELECT minimum FROM partnerkit_migration WHERE number = $1 AND name = $2", []any{m.number, m.name}, &minimum)
	switch {
	case errors.Is(err, storage.ErrNoRows):
		return errors.New("it does not record itself in partnerkit_migration")
	case err != nil:
		return err
	case minimum > m.number:
		return fmt.Errorf("its minimum %d is beyond it", minimum)
	}
	return nil
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

// checkSchema returns an error that names the missing migrations and how to apply them.
func (s *Store) checkSchema(ctx context.Context, known []migration) error {
	const cure = "apply the files of sqlstore.Migrations with your migration tool, or open the store without SkipMigrations"
	have, err := schemaVersion(ctx, s.db, s.sql, len(known))
	switch {
	case errors.Is(err, storage.ErrNoTable):
		return fmt.Errorf("%w 1 to %d: it has no tables of partnerkit yet; %s", storage.ErrOlderSchema, len(known), cure)
	case err != nil:
		return err
	case have < len(known):
		return fmt.Errorf("%w %d to %d; %s", storage.ErrOlderSchema, have+1, len(known), cure)
	}
	return nil
}
