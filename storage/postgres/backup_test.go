package postgres_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

// The commands of docs/operations.md back a database up and restore it, with its days
// (OPER-05).
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	tool := func(name string) string {
		t.Helper()
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
		if len(found) == 0 {
			testenv.Programs(t, name) // it reports the missing program
		}
		return found[len(found)-1]
	}
	dump, restore := tool("pg_dump"), tool("pg_restore")
	cfg := postgres.Config{Schema: schema, MaxConns: 2, Partitions: true}
	store, err := postgres.Open(t.Context(), url, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.AdvanceClock(t.Context(), 1e9); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "partnerkit.dump")
	run := func(program string, args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput(); err != nil { //nolint:gosec // the test's own words
			t.Fatalf("%s: %v\n%s", program, err, out)
		}
	}
	run(dump, "--format=custom", "--no-owner", "--schema", schema, "--file", file, url)
	host := hostDB(t, "pgx", url)
	if _, err := host.ExecContext(t.Context(), "DROP SCHEMA "+pgx.Identifier{schema}.Sanitize()+" CASCADE"); err != nil {
		t.Fatal(err)
	}
	run(restore, "--exit-on-error", "--no-owner", "--dbname", url, file)
	cfg.SkipMigrations = true
	again, err := postgres.Open(t.Context(), url, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if offset, err := again.AdvanceClock(t.Context(), 0); err != nil || offset != 1e9 {
		t.Errorf("the clock was moved by %v, %v", offset, err)
	}
}
