package grown

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// dialect holds the SQL that differs between the two databases.
type dialect struct {
	schema                string // before a table of ours
	before, after, settle []string
	series                func(n int) string // numbers from 0, as s.i
	padded                func(number string) string
	bytes                 func(text string) string
	digest                string // 32 bytes without an order
	indexes               string // a query for what takes each index of ours away, and what makes it again
}

var onSQLite = dialect{
	before: []string{"PRAGMA foreign_keys = OFF", "PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -400000", "PRAGMA temp_store = MEMORY", "BEGIN"},
	after:  []string{"COMMIT"},
	series: func(n int) string {
		return fmt.Sprintf("(WITH RECURSIVE c (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i + 1 < %d) SELECT i FROM c) AS s", n)
	},
	padded:  func(number string) string { return "printf('%011d', " + number + ")" },
	bytes:   func(text string) string { return fmt.Sprintf("x'%x'", text) },
	digest:  "randomblob(32)",
	indexes: "SELECT 'DROP INDEX ' || name, sql FROM sqlite_master WHERE type = 'index' AND name LIKE 'pk\\_%' ESCAPE '\\'",
}

func onPostgres(schema string) dialect {
	d := dialect{
		schema: `"` + schema + `".`,
		before: []string{`SET search_path TO pg_temp, "` + schema + `"`, "SET synchronous_commit = off", "SET maintenance_work_mem = '256MB'", "SET work_mem = '256MB'"},
		series: func(n int) string { return fmt.Sprintf("generate_series(0, %d) AS s (i)", n-1) },
		padded: func(number string) string { return "lpad((" + number + ")::text, 11, '0')" },
		bytes:  func(text string) string { return fmt.Sprintf(`'\x%x'::bytea`, text) },
		digest: "sha256(gen_random_uuid()::text::bytea)",
		indexes: strings.ReplaceAll(`SELECT 'DROP INDEX ' || indexname, indexdef FROM pg_indexes WHERE schemaname = {schema} AND indexname LIKE 'pk\_%'
			UNION ALL SELECT 'ALTER TABLE ' || conrelid::regclass || ' DROP CONSTRAINT ' || conname,
				'ALTER TABLE ' || conrelid::regclass || ' ADD CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid)
			FROM pg_constraint WHERE connamespace = {schema}::regnamespace AND contype = 'u'`, "{schema}", quoted(schema)),
		after: []string{"RESET ALL"},
	}
	// A server does this by itself after inserting this many rows.
	for _, table := range []string{
		"app", "webhook", "app_data_field", "installation", "grant", "family", "access_token", "refresh_token", "event", "event_counter",
		"delivery", "delivery_queue", "attempt", "app_data_space", "app_data_value", "authorization_request", "code", "device_code", "registration_token", "console_token",
		"used_session_token", "used_assertion", "used_refresh_token", "idempotency_key", "calls", "calls_group", "request", "last_use", "user_state", "audit",
	} {
		d.settle = append(d.settle, `VACUUM (ANALYZE) "`+schema+`".partnerkit_`+table)
	}
	return d
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// dropIndexes takes indexes away, which are quicker made afterwards, and returns what
// makes them.
func (d dialect) dropIndexes(ctx context.Context, db *sql.Conn) (again []string, err error) {
	found, err := db.QueryContext(ctx, d.indexes)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var drops []string
	for found.Next() {
		var drop, makes string
		if err := found.Scan(&drop, &makes); err != nil {
			return nil, err
		}
		drops, again = append(drops, drop), append(again, makes)
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	for _, drop := range drops {
		if _, err := db.ExecContext(ctx, drop); err != nil {
			return nil, err
		}
	}
	return again, nil
}
