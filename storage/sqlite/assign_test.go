package sqlite_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

type (
	status string
	number int16
)

// What a host may scan into is what database/sql would take, with the same values: it
// reads the same file beside us.
func TestScanLikeDatabaseSQL(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/scan.db"
	db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	create := "CREATE TABLE v (text TEXT, number BIGINT, huge BIGINT, real DOUBLE, blob BLOB, truth BOOLEAN, digits TEXT, none TEXT)"
	if _, err := db.Exec(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(t.Context(), "INSERT INTO v VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
		status("some"), uint8(7), int64(1)<<40, float32(0.5), []byte{0, 255}, true, "42", (*string)(nil))
	if err != nil {
		t.Fatal(err)
	}
	sql.Register("scan", sqlite.Driver{})
	plain, err := sql.Open("scan", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for column, dests := range map[string][]func() any{
		"text":   {to[string], to[status], to[any], to[*string], to[[]byte], to[sql.RawBytes], to[sql.NullString], to[sql.Null[status]], to[int], to[bool], to[time.Time]},
		"number": {to[int64], to[int], to[number], to[uint8], to[float64], to[string], to[bool], to[any], to[*int], to[sql.NullInt64], to[sql.NullString], to[[]byte], to[struct{}]},
		"huge":   {to[int64], to[uint64], to[number], to[int32], to[uint16], to[string]},
		"real":   {to[float64], to[float32], to[string], to[any], to[int]},
		"blob":   {to[[]byte], to[string], to[any], to[*[]byte], to[sql.NullString], to[sql.Null[[]byte]], to[int]},
		"truth":  {to[bool], to[*bool], to[sql.NullBool], to[int], to[string]},
		"digits": {to[int], to[uint], to[float64], to[string], to[bool]},
		"none":   {to[string], to[status], to[int], to[bool], to[any], to[*string], to[[]byte], to[sql.NullString], to[sql.NullInt64], to[sql.Null[status]]},
	} {
		query := "SELECT " + column + " FROM v"
		for _, fresh := range dests {
			ours, theirs := fresh(), fresh()
			ourErr := storage.One(t.Context(), db, query, nil, ours)
			theirErr := scanFirst(plain, query, theirs)
			if (ourErr == nil) != (theirErr == nil) {
				t.Errorf("%s into %T: %v, database/sql says %v", column, ours, ourErr, theirErr)
				continue
			}
			if diff := cmp.Diff(theirs, ours); ourErr == nil && diff != "" {
				t.Errorf("%s into %T (-database/sql +ours):\n%s", column, ours, diff)
			}
		}
	}
}

func to[T any]() any { return new(T) }

// scanFirst reads a row without the copy that QueryRow makes, which refuses RawBytes.
func scanFirst(db *sql.DB, query string, dest any) error {
	rows, err := db.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	rows.Next()
	if err := rows.Scan(dest); err != nil {
		return err
	}
	if raw, ok := dest.(*sql.RawBytes); ok {
		*raw = append(sql.RawBytes(nil), *raw...)
	}
	return nil
}

func TestScanRefuses(t *testing.T) {
	t.Parallel()
	db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for name, test := range map[string]struct {
		dest []any
		want string
	}{
		"too few":      {[]any{new(int)}, "1 of 2 columns"},
		"too many":     {[]any{new(int), new(int), new(int)}, "3 of 2 columns"},
		"no pointer":   {[]any{new(int), 1}, `column "b": the destination is no pointer`},
		"nil pointer":  {[]any{new(int), (*status)(nil)}, `column "b": the destination is no pointer`},
		"of no use":    {[]any{new(chan int), new(int)}, `column "a": int64 does not fit into chan int`},
		"out of range": {[]any{new(int8), new(int)}, `column "a": 300 does not fit into int8`},
	} {
		t.Run(name, func(t *testing.T) {
			err := storage.One(t.Context(), db, "SELECT 300 AS a, 2 AS b", nil, test.dest...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
	if _, err := db.Exec(t.Context(), "SELECT $1", struct{}{}); err == nil || !strings.Contains(err.Error(), "value of $1") {
		t.Errorf("%v, want one that names $1", err)
	}
	rows, err := db.Query(t.Context(), "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if err := rows.Scan(new(int)); err == nil {
		t.Error("a row was scanned before Next")
	}
}
