package sqlitedriver_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/partnerkit/partnerkit/internal/sqlitedriver"
)

func TestPragmas(t *testing.T) {
	t.Parallel()
	db := open(t, "?_pragma=busy_timeout(1234)&_pragma=foreign_keys(1)")
	var timeout, keys int
	if err := errors.Join(db.QueryRow("PRAGMA busy_timeout").Scan(&timeout), db.QueryRow("PRAGMA foreign_keys").Scan(&keys)); err != nil {
		t.Fatal(err)
	}
	if timeout != 1234 || keys != 1 {
		t.Errorf("busy_timeout %d, foreign_keys %d", timeout, keys)
	}
	for name, want := range map[string]string{
		"file:" + t.TempDir() + "/x.db?_pragma=journal_mode(": "set journal_mode(",
		"file:" + t.TempDir() + "/x.db?_pragma=%":             "parameters of the name",
		"file:" + t.TempDir() + "/x.db\x00":                   "a NUL in the name",
		t.TempDir() + "/x.db":                                 "does not begin with file:",
		"file:" + t.TempDir() + "/none/x.db":                  "unable to open",
	} {
		if _, err := (sqlitedriver.Driver{}).Open(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// Who sets no timeout does not wait.
func TestBusy(t *testing.T) {
	t.Parallel()
	db := open(t, "?_pragma=journal_mode(WAL)")
	holder, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if _, err := holder.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE v (a)"); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("%v", err)
	}
}

func TestTransaction(t *testing.T) {
	t.Parallel()
	db := open(t, "")
	if _, err := db.Exec("CREATE TABLE v (a TEXT)"); err != nil {
		t.Fatal(err)
	}
	for _, end := range []func(*sql.Tx) error{(*sql.Tx).Commit, (*sql.Tx).Rollback} {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec("INSERT INTO v VALUES ('x')"); err != nil {
			t.Fatal(err)
		}
		if err := end(tx); err != nil {
			t.Fatal(err)
		}
	}
	var n int
	if err := db.QueryRow("SELECT COUNT(*) FROM v").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// A context ends what runs, and only that.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	db := open(t, "")
	db.SetMaxOpenConns(1)
	const forever = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
	for name, run := range map[string]func(ctx context.Context) error{
		"query": func(ctx context.Context) error { return db.QueryRowContext(ctx, forever).Scan(new(int)) },
		"exec": func(ctx context.Context) error {
			_, err := db.ExecContext(ctx, "CREATE TABLE t AS "+forever)
			return err
		},
		"several": func(ctx context.Context) error {
			_, err := db.ExecContext(ctx, strings.Repeat("SELECT 1;", 1_000_000))
			return err
		},
		"few long steps": func(ctx context.Context) error {
			_, err := db.ExecContext(ctx, "CREATE TABLE u AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30) SELECT SUM(LENGTH(HEX(RANDOMBLOB(1000000)))) FROM n")
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		var one int
		if err := db.QueryRowContext(t.Context(), "SELECT 1").Scan(&one); err != nil || one != 1 {
			t.Errorf("after %s: %d, %v", name, one, err)
		}
	}
}

// A connection stays open as long as its statements, and what is closed stays closed: to
// SQLite its name may be that of another one by then.
func TestClose(t *testing.T) {
	t.Parallel()
	name := "file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "test.db"))
	connect := func() driver.Conn {
		conn, err := sqlitedriver.Driver{}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	conn := connect()
	one, err := conn.Prepare("SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	query := func() (driver.Rows, error) { return one.Query(nil) } //nolint:staticcheck // no database/sql here
	rows, err := query()
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err == nil || !strings.Contains(err.Error(), "unfinalized statements") {
		t.Errorf("%v, want that there are statements", err)
	}
	got := make([]driver.Value, 1)
	if err := rows.Next(got); err != nil || got[0] != int64(1) {
		t.Errorf("%v, %v", got[0], err)
	}
	if err := errors.Join(one.Close(), conn.Close()); err != nil {
		t.Error(err)
	}
	other := connect()
	if _, err := query(); err == nil || !strings.Contains(err.Error(), "the statement is closed") {
		t.Errorf("a closed statement: %v", err)
	}
	if _, err := conn.Prepare("SELECT 1"); err == nil || !strings.Contains(err.Error(), "the connection is closed") {
		t.Errorf("a closed connection: %v", err)
	}
	if err := conn.Close(); err == nil || !strings.Contains(err.Error(), "the connection is closed") {
		t.Errorf("closed twice: %v", err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

// An error has its kind, for those who ask for no more, and its details.
func TestErrors(t *testing.T) {
	t.Parallel()
	db := open(t, "?_pragma=foreign_keys(1)")
	db.SetMaxOpenConns(1)
	const tables = "CREATE TABLE p (a TEXT PRIMARY KEY); CREATE TABLE c (a TEXT REFERENCES p (a) DEFERRABLE INITIALLY DEFERRED); INSERT INTO p VALUES ('x')"
	if _, err := db.Exec(tables); err != nil {
		t.Fatal(err)
	}
	_, err := db.Exec("INSERT INTO p VALUES ('x')")
	said, ok := errors.AsType[*sqlitedriver.Error](err)
	if !ok || said.Code != lib.SQLITE_CONSTRAINT_PRIMARYKEY || sqlitedriver.Code(err) != lib.SQLITE_CONSTRAINT {
		t.Errorf("%v, want that the key is there", err)
	}
	unread, err := db.Query("INSERT INTO c VALUES ('y'), ('z') RETURNING a")
	if err != nil || !unread.Next() {
		t.Fatalf("%v, want a row", err)
	}
	if err := unread.Close(); sqlitedriver.Code(err) != lib.SQLITE_CONSTRAINT { // only now it commits
		t.Errorf("%v, want that the row is refused", err)
	}
	if err := unread.Err(); err != nil {
		t.Log(err)
	}
}
