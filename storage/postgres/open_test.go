package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// An error from Open names the host, explains the remedy and hides the password.
func TestOpenRefusals(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	_ = closed.Close()
	tests := map[string]struct{ url, schema, want string }{
		"nobody there": {"postgres://me:hunter2@" + address + "/books", "", address + "/books"},
		"not a URL":    {"postgres://me:hunter2@%zz/", "", "is not of the form"},
		"bad option":   {"postgres://me:hunter2@" + address + "/books?sslmode=perhaps", "", "is not of the form"},
		"bad schema":   {"postgres://me:hunter2@" + address + "/books", `x"; DROP`, "Config.Schema"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := postgres.Open(t.Context(), test.url, postgres.Config{Schema: test.schema})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

// With SkipMigrations the error names the missing migrations and explains how to apply
// them, even if the schema does not exist.
func TestSkipMigrations(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	wantMissing := func(which string) {
		t.Helper()
		_, err := postgres.Open(t.Context(), url, postgres.Config{Schema: schema, MaxConns: 1, SkipMigrations: true})
		if !errors.Is(err, storage.ErrOlderSchema) || !strings.Contains(err.Error(), which) || !strings.Contains(err.Error(), "sqlstore.Migrations") || strings.Contains(err.Error(), "42P01") {
			t.Errorf("%v, want %s", err, which)
		}
	}
	wantMissing("it has no tables")
	all, err := postgres.Open(t.Context(), url, postgres.Config{Schema: schema, MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "DELETE FROM "+schema+".partnerkit_migration WHERE number > 2"); err != nil {
		t.Fatal(err)
	}
	wantMissing("migrations 3 to ")
}

// For a user with read permission only, the error is that the database is read-only.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	_, err := postgres.Open(t.Context(), withOption(url, "default_transaction_read_only=on"), postgres.Config{Schema: schema, MaxConns: 1})
	if err == nil || !strings.Contains(err.Error(), storage.ErrReadOnly.Error()) {
		t.Errorf("open: %v", err)
	}
}

// Nodes that start together on an empty database all come up, and each
// migration runs once.
func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	files := fstest.MapFS{
		"0001_one.sql": {Data: []byte("CREATE TABLE partnerkit_one (n BIGINT); CREATE INDEX pk_one_n ON partnerkit_one (n); INSERT INTO partnerkit_migration (number, name, minimum) VALUES (1, 'one', 1);")},
		"0002_two.sql": {Data: []byte("INSERT INTO partnerkit_one (n) VALUES (1); INSERT INTO partnerkit_migration (number, name, minimum) VALUES (2, 'two', 1);")},
	}
	testdb.Race(4, func(int) {
		db := openDB(t, url, postgres.Config{Schema: schema, MaxConns: 1})
		if _, err := sqlstore.New(t.Context(), db, sqlstore.Config{Migrations: files}); err != nil {
			t.Error(err)
		}
	})
	db := openDB(t, url, postgres.Config{Schema: schema, MaxConns: 1})
	var rows, migrations int
	for table, n := range map[string]*int{"partnerkit_one": &rows, "partnerkit_migration": &migrations} {
		if err := storage.One(t.Context(), db, `SELECT COUNT(*) FROM "`+schema+`".`+table, nil, n); err != nil {
			t.Fatal(err)
		}
	}
	if rows != 1 || migrations != 2 {
		t.Errorf("%d rows, %d migrations; want 1 and 2", rows, migrations)
	}
}

// childVar makes this test binary a node that opens the named schema.
const childVar = "PARTNERKIT_TEST_CHILD"

func child() bool {
	schema := os.Getenv(childVar)
	if schema == "" {
		return false
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // the barrier
	store, err := postgres.Open(context.Background(), os.Getenv(testenv.PostgresVar), postgres.Config{Schema: schema, MaxConns: 2})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = store.Close()
	return true
}

// Two processes that start together on an empty database both come up.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	nodes := make([]*exec.Cmd, 2)
	gates := make([]io.Closer, 2)
	outputs := make([]strings.Builder, 2)
	for i := range nodes {
		nodes[i] = exec.Command(os.Args[0])
		nodes[i].Env = append(os.Environ(), childVar+"="+schema)
		nodes[i].Stdout = &outputs[i]
		gate, err := nodes[i].StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		gates[i] = gate
		if err := nodes[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, gate := range gates {
		_ = gate.Close()
	}
	for i, node := range nodes {
		if err := node.Wait(); err != nil {
			t.Errorf("node %d: %v: %s", i, err, outputs[i].String())
		}
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var doubled int
	err = db.QueryRowContext(t.Context(), `SELECT COUNT(*) - COUNT(DISTINCT number) FROM "`+schema+`".partnerkit_migration`).Scan(&doubled)
	if err != nil || doubled != 0 {
		t.Errorf("%d migrations ran twice, %v", doubled, err)
	}
}
