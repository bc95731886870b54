package plans_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
)

// named finds tables of ours and the names that a statement gives them.
var named = regexp.MustCompile(`(?i)\bpartnerkit_(\w+)"?(?:\s+(?:AS\s+)?(\w+))?`)

// tables maps what a plan of SQLite calls a table to the table.
func tables(text string) map[string]string {
	names := map[string]string{}
	for _, found := range named.FindAllStringSubmatch(text, -1) {
		names["partnerkit_"+found[1]] = found[1]
		if alias := found[2]; alias != "" && alias == strings.ToLower(alias) { // keywords are in capitals
			names[alias] = found[1]
		}
	}
	return names
}

// sqlitePlan looks for scans. SQLite makes no statistics of its own accord, so its plans
// hang on indexes alone; a host may have made some.
func sqlitePlan(db storage.DB) planner {
	return func(t *testing.T, s statement) (faults []string) {
		names := tables(s.text)
		err := storage.Each(t.Context(), db, "EXPLAIN QUERY PLAN "+s.text, s.args, func(scan func(...any) error) error {
			var id, parent, unused int
			var detail string
			err := scan(&id, &parent, &unused, &detail)
			if scanned, ok := strings.CutPrefix(detail, "SCAN "); ok {
				name, _, _ := strings.Cut(scanned, " ")
				if table, ours := names[name]; ours && !small[table] {
					faults = append(faults, detail)
				}
			}
			return err
		})
		if err != nil {
			t.Fatalf("%v in %s", err, s.text)
		}
		return faults
	}
}
