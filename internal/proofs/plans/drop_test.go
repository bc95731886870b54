package plans_test

import (
	"database/sql"
	"slices"
	"testing"

	"github.com/partnerkit/partnerkit/internal/grown"
)

// elsewhere are indexes whose loss no plan here shows.
var elsewhere = map[string]string{
	"pk_audit_organization": "another index finds its rows, among those about no app",
	"pk_access_token_user":  "package grown takes over no connection",
	"pk_family_user":        "package grown takes over no connection",
	"pk_foreign_secret_app": "package grown imports no secrets of another server",
	"pk_open_request":       "the service of package grown has no sessions; the statement that needs it filters the few requests of one",
}

// walked are more of them. Without one of these a database walks through another index,
// and its plan does not tell that.
var (
	walkedPostgres = map[string]bool{"pk_app_data_value_field": true, "pk_app_data_value_space": true, "pk_installation_active_app": true, "pk_delivery_business": true}
	walkedSQLite   = map[string]bool{
		"pk_event_number": true, "pk_installation_active_app": true,
		"pk_delivery_webhook": true, "pk_delivery_business": true, "pk_delivery_event": true, "pk_delivery_status": true,
	}
)

// dropEach drops one index at a time and checks the plans. Without the index at least one
// plan must be faulty. The query selects the names of our indexes and of their tables.
func dropEach(t *testing.T, db *sql.Conn, query string, except map[string]bool, isNoticed func(*testing.T) bool) {
	found, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	type index struct{ name, table string }
	var indexes []index
	for found.Next() {
		var one index
		if err := found.Scan(&one.name, &one.table); err != nil {
			t.Fatal(err)
		}
		indexes = append(indexes, one)
	}
	if err := found.Err(); err != nil || len(indexes) == 0 {
		t.Fatalf("%v, %d indexes", err, len(indexes))
	}
	for _, one := range indexes {
		if small[one.table] || elsewhere[one.name] != "" || except[one.name] {
			continue
		}
		exec(t, db, "BEGIN")
		exec(t, db, "DROP INDEX "+one.name)
		if !isNoticed(t) {
			t.Errorf("no plan needs index %s", one.name)
		}
		exec(t, db, "ROLLBACK")
	}
}

// anyFault looks at plans until one is faulty.
func anyFault(all []grown.Statement, plan planner) func(*testing.T) bool {
	return func(t *testing.T) bool {
		return slices.ContainsFunc(all, func(sent grown.Statement) bool { return len(plan(t, sent)) > 0 })
	}
}

func exec(t *testing.T, db *sql.Conn, text string) {
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}
