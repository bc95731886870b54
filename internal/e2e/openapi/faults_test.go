package openapi_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // to break a database
)

// ERR-02, OERR-04: with a database that has lost its tables, every operation responses
// as described: a fault, in its shape and with a request id.
func TestFaults(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "books.db")
	s := serve(t, file)
	n := s.newcomers()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range tablesOf(t, db) {
		if _, err := db.ExecContext(t.Context(), "DROP TABLE "+table); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range s.targets("", "/") {
		if strings.HasPrefix(o.path, "/dev/") { // no client relies on these
			continue
		}
		c := call{method: o.method, url: o.url, as: n.dev}
		switch {
		case strings.HasPrefix(o.path, "/oauth/") && o.path != "/oauth/authorize":
			c.as, c.basic, c.form = nil, [2]string{syncID, syncSecret}, form("token", "x")
		case strings.HasPrefix(o.url, s.API) && !strings.HasPrefix(o.path, "/developer") && !strings.HasPrefix(o.path, "/operator"):
			c.as, c.token = nil, n.token
		}
		s.do(c)
	}
	for _, want := range []string{"listInvoices 500", "createInvoice 500", "createToken 500", "listApps 500", "createApp 500", "showDevice 500", "showBusinesses 500"} {
		if !s.checker.seen[want] {
			t.Errorf("never seen: %s", want)
		}
	}
}

func tablesOf(t *testing.T, db *sql.DB) (tables []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	return tables
}
