package plans_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/grown"
)

// node is one of a plan of PostgreSQL.
type node struct {
	Type     string `json:"Node Type"`
	Relation string `json:"Relation Name"`
	Index    string `json:"Index Name"`
	Cond     string `json:"Index Cond"`
	Filter   string
	Rows     float64 `json:"Plan Rows"`
	Plans    []node
}

// postgresPlan looks for tables and indexes that are read from one end to the other, the
// first and the last time of those that a connection sends a statement.
func postgresPlan(db *sql.Conn, times int) planner {
	asked := 0
	return func(t *testing.T, s grown.Statement) (faults []string) {
		asked++
		name := fmt.Sprint("looked_at_", asked)
		exec(t, db, "PREPARE "+name+" AS "+s.Text)
		run := "EXPLAIN (FORMAT JSON) EXECUTE " + name
		if len(s.Args) > 0 {
			run += "(" + literals(s.Args) + ")"
		}
		for i := range times {
			var text []byte
			if err := db.QueryRowContext(t.Context(), run).Scan(&text); err != nil {
				return []string{err.Error()} // such as of ON CONFLICT without an index
			}
			if i > 0 && i < times-1 {
				continue
			}
			var plans []struct{ Plan node }
			if err := json.Unmarshal(text, &plans); err != nil {
				t.Fatal(err)
			}
			for _, one := range plans {
				for _, fault := range one.Plan.faults(false) {
					faults = append(faults, fmt.Sprintf("time %d: %s", i+1, fault))
				}
			}
		}
		exec(t, db, "DEALLOCATE "+name)
		return faults
	}
}

// passesFew reports whether the filter of an index scan below a limit leaves out few rows.
func (n node) passesFew() bool {
	return n.Index == "pk_idempotency_key_expires" || // few requests are still running
		n.Index == "partnerkit_family_pkey" && n.Cond == "(id = t.family_id)" // one family for each of a few tokens
}

// faults are what reads a table that grows without an index, or an index without a place
// to begin at, unless it stops after a few rows.
func (n node) faults(isLimited bool) (faults []string) {
	table := strings.TrimPrefix(n.Relation, "partnerkit_")
	isOurs := n.Relation != "" && table != n.Relation && !small[table]
	switch {
	case isOurs && n.Type == "Seq Scan":
		faults = append(faults, "Seq Scan on "+n.Relation)
	case isOurs && strings.HasPrefix(n.Type, "Index") && n.Cond == "" && (!isLimited || n.Filter != ""):
		faults = append(faults, n.Type+" of all of "+n.Index)
	case isOurs && isLimited && n.Filter != "" && !n.passesFew():
		faults = append(faults, n.Type+" of "+n.Index+" where "+n.Cond+" for "+n.Filter)
	case isOurs && !isLimited && n.Rows > rows/20:
		faults = append(faults, fmt.Sprintf("%s on %s of %.0f rows", n.Type, n.Relation, n.Rows))
	}
	for _, inner := range n.Plans {
		faults = append(faults, inner.faults(isLimited || n.Type == "Limit")...)
	}
	return faults
}

// literals are the arguments as they stand in a statement.
func literals(args []any) string {
	all := make([]string, len(args))
	for i, arg := range args {
		switch value := arg.(type) {
		case nil:
			all[i] = "NULL"
		case []byte:
			all[i] = fmt.Sprintf(`'\x%x'`, value)
		case bool, int, int64:
			all[i] = fmt.Sprint(value)
		default:
			all[i] = "'" + strings.ReplaceAll(fmt.Sprint(value), "'", "''") + "'"
		}
	}
	return strings.Join(all, ", ")
}
