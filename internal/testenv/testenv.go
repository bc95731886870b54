// Package testenv finds the services that tests need. A test without its
// service skips and explains how to run it; in CI that is a failure.
package testenv

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"
)

// The environment variables that name the services.
const (
	PostgresVar = "PARTNERKIT_TEST_POSTGRES"
	RedisVar    = "PARTNERKIT_TEST_REDIS"
	// ProveVar asks for the long forms of the proofs.
	ProveVar = "PARTNERKIT_PROVE"
)

// Redis returns the URL of a Redis server.
func Redis(t testing.TB) string {
	t.Helper()
	return need(t, RedisVar, "redis://127.0.0.1:6379/5")
}

// Postgres returns the URL of a PostgreSQL server and the name of a schema for
// this test alone, which does not exist yet and is dropped at the test's end.
func Postgres(t testing.TB) (url, schema string) {
	t.Helper()
	url = need(t, PostgresVar, "postgres://postgres@127.0.0.1:5432/test")
	schema = "pk_test_" + strings.ToLower(rand.Text())
	t.Cleanup(func() {
		db, err := sql.Open("pgx", url)
		if err != nil {
			t.Error(err)
			return
		}
		defer db.Close()
		if err := dropSchema(db, schema); err != nil {
			t.Errorf("drop schema of the test: %v", err)
		}
	})
	return url, schema
}

// dropSchema drops a schema. A statement whose context has ended may run on for a moment after
// its connection was closed, and its locks can meet those of the drop in a deadlock.
func dropSchema(db *sql.DB, schema string) error {
	var deadlock *pgconn.PgError
	for attempt := 1; ; attempt++ {
		_, err := db.ExecContext(context.Background(), `DROP SCHEMA IF EXISTS "`+schema+`" CASCADE`)
		if attempt == 3 || !errors.As(err, &deadlock) || deadlock.Code != "40P01" {
			return err
		}
	}
}

// PostgresURL returns the URL of a PostgreSQL server whose search_path is a new schema for
// this test alone: for tests in which tables of others lie next to the library's. The
// schema is dropped at the test's end.
func PostgresURL(t testing.TB) string {
	t.Helper()
	address, schema := Postgres(t)
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `CREATE SCHEMA "`+schema+`"`); err != nil {
		t.Fatal(err)
	}
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	return address + separator + "search_path=" + schema
}

func need(t testing.TB, name, example string) string {
	t.Helper()
	value := os.Getenv(name)
	if value != "" {
		return value
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not set, and in CI no test is skipped", name)
	}
	t.Skipf("needs a service: set %s, for example to %s", name, example)
	return ""
}

// Programs skips a test, or in CI fails it, where a program is missing.
func Programs(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err == nil {
			continue
		}
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed, and in CI no test is skipped", name)
		}
		t.Skipf("needs the program %s", name)
	}
}

// Long skips a test that takes too long for go test ./... by hand. It runs in CI and in make
// prove.
func Long(t testing.TB) {
	t.Helper()
	if os.Getenv("CI") != "true" && !Proving() {
		t.Skipf("takes long: set CI=true for the form that CI runs, or %s=1 for that of make prove", ProveVar)
	}
}

// Proving reports whether the long forms of the proofs were asked for.
func Proving() bool { return os.Getenv(ProveVar) != "" }

// Rounds returns how often to repeat a race: a few times in CI, often in a proof.
func Rounds(short, long int) int {
	if Proving() {
		return long
	}
	return short
}
