package postgres_test

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

// maxReused is the number of rows that a case may leave in a schema that is used again. The
// dead rows of more would slow down the next cases.
const maxReused = 1000

// schemas opens databases that have the tables already. Creating the tables and dropping them
// takes longer than most cases, so a schema is emptied after a case and used again. All of
// them are dropped when owner ends.
type schemas struct {
	owner *testing.T
	url   string
	admin *sql.DB

	mu   sync.Mutex
	free []string
}

// reused returns an opener. The cases of make prove are long and leave many dead rows: each
// of them has a schema of its own.
func reused(t *testing.T) testdb.Opener {
	t.Helper()
	if testenv.Proving() {
		return open
	}
	url, schema := testenv.Postgres(t)
	s := &schemas{owner: t, url: url, admin: hostDB(t, "pgx", url), free: []string{schema}}
	return s.open
}

func (s *schemas) open(t testing.TB) storage.DB {
	t.Helper()
	schema := s.take()
	t.Cleanup(func() { s.giveBack(t, schema) }) // after the database is closed
	return openDB(t, s.url, postgres.Config{Schema: schema, MaxConns: 4})
}

func (s *schemas) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		schema := s.free[n-1]
		s.free = s.free[:n-1]
		return schema
	}
	_, schema := testenv.Postgres(s.owner)
	return schema
}

func (s *schemas) giveBack(t testing.TB, schema string) {
	rows, err := s.empty(t, schema)
	if err != nil {
		t.Errorf("empty the schema of the case: %v", err)
		return
	}
	if rows > maxReused {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, schema)
}

// empty leaves a schema as the migrations made it, and returns the number of rows that were in
// it.
func (s *schemas) empty(t testing.TB, schema string) (rows int64, err error) {
	ctx := context.WithoutCancel(t.Context()) // which has ended
	tables, err := s.tables(ctx, schema)
	if err != nil {
		return 0, err
	}
	for _, name := range tables {
		table := `"` + schema + `"."` + name + `"`
		statement := "DELETE FROM " + table
		switch {
		case name == "partnerkit_migration":
			continue
		case name == "partnerkit_shard":
			statement = "UPDATE " + table + " SET holder = '', epoch = 0, lease_ends = 0"
		case !strings.HasPrefix(name, "partnerkit_"): // the case's own
			statement = "DROP TABLE " + table
		}
		result, err := s.admin.ExecContext(ctx, statement)
		if err != nil {
			return 0, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		rows += n
	}
	return rows, nil
}

// tables returns the names of a schema's tables, the newest first, so that a table comes
// before those that it refers to.
func (s *schemas) tables(ctx context.Context, schema string) (names []string, err error) {
	rows, err := s.admin.QueryContext(ctx, `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY c.oid DESC`, schema)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
