package sqlite_test

import (
	"context"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
)

// Arguments go to the placeholders with their numbers, in whatever order they stand, as often
// as they stand, and beside what only looks like one.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	db := open(t)
	letters := []any{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}
	for query, test := range map[string]struct {
		args int
		want string
	}{
		"SELECT $1 || $2":     {2, "ab"},
		"SELECT $2 || $1":     {2, "ba"}, // another order
		"SELECT $1 || $1":     {1, "aa"}, // one of them twice
		"SELECT $1 || '$2'":   {1, "a$2"},
		"SELECT $1 -- and $2": {1, "a"},
		"SELECT /* $1 */ $2":  {2, "b"},
		"SELECT -- $1\n $2":   {2, "b"},
		"SELECT '($1' || $2":  {2, "($1b"},
		"SELECT /* $1 */ $1":  {1, "a"},
		`SELECT x || "$1" FROM (SELECT $1 AS x, 'y' AS "$1")`:                     {1, "ay"},
		"SELECT x || a$1 FROM (SELECT $1 AS x, 'y' AS a$1)":                       {1, "ay"}, // a name
		"SELECT $1 || $2 || $3 || $4 || $5 || $6 || $7 || $8 || $9 || $10 || $11": {11, "abcdefghijk"},
		"SELECT $11 || $10 || $9 || $8 || $7 || $6 || $5 || $4 || $3 || $2 || $1": {11, "kjihgfedcba"},
		"SELECT x FROM (SELECT $1 AS x) WHERE x IN ($2, $3, $1) LIMIT 1":          {3, "a"},
	} {
		err := db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
			var got string
			if err := storage.One(ctx, tx, query, letters[:test.args], &got); err != nil {
				return err
			}
			if got != test.want {
				t.Errorf("%s = %q, want %q", query, got, test.want)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
}
