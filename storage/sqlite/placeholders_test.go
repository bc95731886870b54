package sqlite

import "testing"

// A text is rewritten only when that cannot change its meaning.
func TestPositional(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"SELECT 1": "SELECT 1",
		"SELECT a FROM t WHERE b = $1 AND c = $2":   "SELECT a FROM t WHERE b = ? AND c = ?",
		"INSERT INTO t VALUES ($1, $2),($3, $4)":    "INSERT INTO t VALUES (?, ?),(?, ?)",
		"SELECT a WHERE b IN ($1, $2) LIMIT $3":     "SELECT a WHERE b IN (?, ?) LIMIT ?",
		"SELECT a WHERE b = $2 AND c = $1":          "", // another order
		"SELECT a WHERE b = $1 OR c = $1":           "", // one of them twice
		"SELECT a WHERE b = $1 AND c = '$2'":        "",
		"SELECT a WHERE b = $1 -- and $2":           "",
		"SELECT a /* $1 */ WHERE b = $1":            "",
		`SELECT "$1" WHERE b = $1`:                  "",
		"SELECT a WHERE b = ? AND c = $1":           "",
		"SELECT a$1 WHERE b = $1":                   "", // a name
		"SELECT a WHERE b = $1 AND c = $23":         "",
		"SELECT a WHERE b = $10":                    "",
		"SELECT a WHERE b = $name":                  "",
		"SELECT a WHERE b = $":                      "",
		"SELECT a FROM t WHERE b = $1 AND c > $2+1": "SELECT a FROM t WHERE b = ? AND c > ?+1",
	} {
		if want == "" {
			want = query
		}
		if got := positional(query); got != want {
			t.Errorf("positional(%q) = %q, want %q", query, got, want)
		}
	}
}
