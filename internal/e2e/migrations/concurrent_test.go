package migrations_test

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"

	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// later is a migration of a version to come, which cannot run in a transaction.
const later = `-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX CONCURRENTLY IF NOT EXISTS pk_event_later ON partnerkit_event (created_at);

INSERT INTO partnerkit_migration (number, name, minimum) VALUES (9999, 'later', 1);
`

// OPER-03: goose and psql build an index concurrently, from a file in the form of ours.
func TestConcurrentIndex_OPER03(t *testing.T) {
	t.Parallel()
	for name, apply := range map[string]func(t *testing.T, to target){
		"goose": func(t *testing.T, to target) {
			files := fstest.MapFS{"9999_later.sql": {Data: []byte(later)}}
			names, err := fs.Glob(sqlstore.Migrations(), "*.sql")
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				text, err := fs.ReadFile(sqlstore.Migrations(), name)
				if err != nil {
					t.Fatal(err)
				}
				files[name] = &fstest.MapFile{Data: text}
			}
			provider, err := goose.NewProvider(to.dialect, openSQL(t, to.driver, to.dsn), files)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := provider.Up(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"psql": func(t *testing.T, to target) {
			to.up(t)
			programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/psql")
			if err != nil || len(programs) == 0 {
				t.Skip("needs psql of Debian's PostgreSQL")
			}
			address, schema, _ := strings.Cut(to.dsn, "search_path=") // which psql does not know
			psql := exec.CommandContext(t.Context(), programs[0], strings.TrimRight(address, "?&"), "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--file", "-")
			psql.Stdin = strings.NewReader("SET search_path = " + schema + ";\n" + later)
			if out, err := psql.CombinedOutput(); err != nil {
				t.Fatalf("psql: %v\n%s", err, out)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := onPostgres(t)
			apply(t, to)
			var isValid bool
			db := openSQL(t, to.driver, to.dsn)
			if err := db.QueryRowContext(t.Context(), "SELECT indisvalid FROM pg_index WHERE indexrelid = 'pk_event_later'::regclass").Scan(&isValid); err != nil || !isValid {
				t.Errorf("the index is valid: %t, %v", isValid, err)
			}
			store, err := to.open(true, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
