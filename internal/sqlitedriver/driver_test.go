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

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/internal/sqlitedriver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connector opens a name.
type connector string

func (c connector) Connect(context.Context) (driver.Conn, error) {
	return sqlitedriver.Driver{}.Open(string(c))
}

func (connector) Driver() driver.Driver { return sqlitedriver.Driver{} }

// open is a file of the test's own, over database/sql.
func open(t *testing.T, parameters string) *sql.DB {
	t.Helper()
	db := sql.OpenDB(connector("file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "test.db")) + parameters))
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestValues(t *testing.T) {
	t.Parallel()
	db := open(t, "")
	sent := []any{int64(-1), 0.5, "text with a \x00 in it", "", []byte{0, 255}, []byte{}, []byte(nil), nil, true}
	want := []any{int64(-1), 0.5, "text with a \x00 in it", "", []byte{0, 255}, []byte{}, nil, nil, int64(1)}
	got := make([]any, len(sent))
	dest := make([]any, len(sent))
	for i := range got {
		dest[i] = &got[i]
	}
	if err := db.QueryRow("SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9", sent...).Scan(dest...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A parameter takes the value of its number, wherever it stands.
func TestParameters(t *testing.T) {
	t.Parallel()
	db := open(t, "")
	for query, want := range map[string]string{
		"SELECT $1 || $2":       "ab",
		"SELECT $2 || $1":       "ba",
		"SELECT $2 || $2 || $1": "bba",
		"SELECT ?2 || ?1":       "ba",
		"SELECT ? || ?":         "ab",
	} {
		var got string
		if err := db.QueryRow(query, "a", "b").Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", query, got, err, want)
		}
	}
}

// A statement that is used again has nothing of its use before.
func TestUsedAgain(t *testing.T) {
	t.Parallel()
	db := open(t, "")
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE v (a TEXT UNIQUE)"); err != nil {
		t.Fatal(err)
	}
	insert, err := db.Prepare("INSERT INTO v VALUES ($1)")
	if err != nil {
		t.Fatal(err)
	}
	defer insert.Close()
	for _, step := range []struct {
		args []any
		want string // of the error
	}{
		{[]any{"one"}, ""},
		{[]any{"one"}, "UNIQUE"},
		{nil, "no value for parameter 1, 0 are given"},
		{[]any{"two"}, ""},
	} {
		result, err := insert.Exec(step.args...)
		switch {
		case step.want != "":
			if err == nil || !strings.Contains(err.Error(), step.want) {
				t.Errorf("%v: %v, want %s", step.args, err, step.want)
			}
		case err != nil:
			t.Errorf("%v: %v", step.args, err)
		default:
			if n, _ := result.RowsAffected(); n != 1 {
				t.Errorf("%v: %d rows", step.args, n)
			}
		}
	}
	read, err := db.Prepare("SELECT a FROM v ORDER BY a")
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	for range 2 { // the first row each time
		var first string
		if err := read.QueryRow().Scan(&first); err != nil || first != "one" {
			t.Errorf("%q, %v", first, err)
		}
	}
}

func TestSeveralStatements(t *testing.T) {
	t.Parallel()
	db := open(t, "")
	_, err := db.Exec(`-- what each of them needs comes before it
		CREATE TABLE v (a TEXT);
		INSERT INTO v VALUES ($1); /* twice */ INSERT INTO v VALUES ($1);
		-- and that is all`, "x")
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.QueryRow("SELECT COUNT(*) FROM v WHERE a = 'x'; -- here, too").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d rows: %v", n, err)
	}
	if _, err := db.Exec("INSERT INTO v VALUES ('z'); /*/ DELETE FROM v; --*/\f\ufeff;"); err != nil {
		t.Error(err)
	}
	if err := db.QueryRow("SELECT COUNT(*) FROM v").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d rows, %v: a comment was run", n, err)
	}
	if _, err := db.Exec("INSERT INTO v VALUES ('y'); INSERT INTO nothing VALUES (1)"); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("%v, want one that names the table", err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	db := open(t, "")
	for name, test := range map[string]struct {
		query string
		args  []any
		want  string
	}{
		"a time":          {"SELECT $1", []any{time.Now()}, "parameter 1: a time.Time"},
		"a name":          {"SELECT :a", []any{1}, "parameter :a has no number"},
		"a zero":          {"SELECT $0", []any{1}, "parameter $0 has no number"},
		"too few values":  {"SELECT $1, $3", []any{1, 2}, "no value for parameter 3, 2 are given"},
		"several queries": {"SELECT 1; SELECT 2", nil, "one at a time"},
		"nothing":         {"", nil, "empty statement"},
		"a comment":       {" ; -- SELECT 1", nil, "empty statement"},
		"a tab":           {" \v", nil, "empty statement"},
		"a NUL":           {"SELECT 1\x00 + 1", nil, "NUL"},
		"no SQL":          {"SELEKT 1", nil, "SELEKT"},
		"quotes":          {`SELECT "a word"`, nil, "a word"}, // a column, not text
	} {
		rows, err := db.Query(test.query, test.args...)
		if err == nil {
			err = errors.Join(rows.Err(), rows.Close())
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// A query has done what it does, whether its rows are read or not.
func TestUnreadRows(t *testing.T) {
	t.Parallel()
	db := open(t, "")
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE v (a TEXT UNIQUE)"); err != nil {
		t.Fatal(err)
	}
	const insert = "INSERT INTO v VALUES ('x') RETURNING a"
	unread, err := db.Query(insert)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(unread.Close(), unread.Err()); err != nil {
		t.Fatal(err)
	}
	again, err := db.Query(insert)
	if err == nil || !strings.Contains(err.Error(), "UNIQUE") {
		t.Errorf("%v, want that it is there", err)
	}
	if err == nil {
		err = errors.Join(again.Close(), again.Err())
		t.Log(err)
	}
}

// A statement that is used again while its rows are read ends them.
func TestRowsOfOneUse(t *testing.T) {
	t.Parallel()
	db := open(t, "")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	numbers, err := tx.Prepare("SELECT 1 UNION ALL SELECT 2")
	if err != nil {
		t.Fatal(err)
	}
	first, err := numbers.Query()
	if err != nil || !first.Next() {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := numbers.Query()
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if first.Next() || first.Err() == nil {
		t.Error("the first rows go on")
	}
	var n int
	if !second.Next() || second.Scan(&n) != nil || n != 1 {
		t.Errorf("the second ones begin with %d, %v", n, second.Err())
	}
}

func TestChangedTable(t *testing.T) {
	t.Parallel()
	db := open(t, "")
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE v (a TEXT); INSERT INTO v VALUES ('x')"); err != nil {
		t.Fatal(err)
	}
	all, err := db.Prepare("SELECT * FROM v")
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	var a, b string
	if err := all.QueryRow().Scan(&a); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("ALTER TABLE v ADD COLUMN b TEXT DEFAULT 'y'"); err != nil {
		t.Fatal(err)
	}
	if err := all.QueryRow().Scan(&a, &b); err != nil || a != "x" || b != "y" {
		t.Errorf("%q, %q, %v", a, b, err)
	}
}

// The texts of a use are its own, however long those of the one before were.
func TestTexts(t *testing.T) {
	t.Parallel()
	db := open(t, "")
	db.SetMaxOpenConns(1)
	said, err := db.Prepare("SELECT $1, $2")
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	for _, n := range []int{1, 100, 0, 1 << 20, 3, 5000, 63, 64, 65} {
		want := [2]string{strings.Repeat("a", n), strings.Repeat("b", n/2)}
		var got [2]string
		if err := said.QueryRow(want[0], want[1]).Scan(&got[0], &got[1]); err != nil || got != want {
			t.Errorf("%d bytes came back as %d and %d: %v", n, len(got[0]), len(got[1]), err)
		}
	}
}

// Rows that failed say so once.
func TestFailedRows(t *testing.T) {
	t.Parallel()
	conn, err := sqlitedriver.Driver{}.Open("file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "test.db")))
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := conn.Prepare("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i = 1 OR i < 0")
	if err != nil {
		t.Fatal(err)
	}
	querier, ok := numbers.(driver.StmtQueryContext)
	if !ok {
		t.Fatal("no queries under a context")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	failed, err := querier.QueryContext(ctx, nil)
	got := make([]driver.Value, 1)
	if err := errors.Join(err, failed.Next(got)); err != nil {
		t.Fatal(err)
	}
	if err := failed.Next(got); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want that it took too long", err)
	}
	again, err := querier.QueryContext(t.Context(), nil) // before they are closed
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Next(got); err != nil || got[0] != int64(1) {
		t.Errorf("%v, %v", got[0], err)
	}
	if err := errors.Join(failed.Close(), numbers.Close(), conn.Close()); err != nil {
		t.Error(err)
	}
}
