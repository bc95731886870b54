package plans_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/grown"
	"github.com/partnerkit/partnerkit/partner"
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

// postgresPlan explains a statement the given number of times on one connection, and looks
// for full scans of tables and indexes in the first and the last plan.
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
					if joinsMany(s) && strings.HasPrefix(fault, "Seq Scan") {
						continue
					}
					faults = append(faults, fmt.Sprintf("time %d: %s", i+1, fault))
				}
			}
		}
		exec(t, db, "DEALLOCATE "+name)
		return faults
	}
}

// joinsMany reports whether a statement joins as many deliveries with their attempts as a
// list may read. A table of the size that it has here is then read as a whole, with a hash
// join; the bound keeps that from growing with the table.
func joinsMany(s grown.Statement) bool {
	return strings.Contains(s.Text, "partnerkit_attempt") && slices.ContainsFunc(s.Args, func(arg any) bool {
		return fmt.Sprint(arg) == strconv.Itoa(partner.ScannedDeliveries)
	})
}

// passesFew reports whether the filter of an index scan below a limit leaves out few rows.
func (n node) passesFew() bool {
	return n.Index == "pk_idempotency_key_expires" || // few requests are still running
		n.Relation == "partnerkit_request" && n.Index != "partnerkit_request_pkey" || // the request log of one app is short
		n.Index == "pk_delivery_event" || // an event has one delivery for each webhook
		n.Index == "pk_delivery_webhook" || // chosen where statistics say that most deliveries match
		n.Index == "partnerkit_installation_pkey" || // an app here has so many installations that a page fills soon
		n.Index == "pk_installation_app" && strings.Contains(n.Cond, "business_id = shown.business_id") || // an app is installed in one business a few times
		n.Index == "partnerkit_family_pkey" && n.Cond == "(id = t.family_id)" // one family for each of a few tokens
}

// faults returns the steps that read a growing table without an index, or an index without
// a start condition, unless they stop after a few rows.
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
