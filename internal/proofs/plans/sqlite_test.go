package plans_test

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/grown"
)

// named finds tables of ours and the names that a statement gives them.
var named = regexp.MustCompile(`(?i)\bpartnerkit_(\w+)"?(?:\s+(?:AS\s+)?(\w+))?`)

// aliases maps other names of tables to the tables.
func aliases(text string) map[string]string {
	names := map[string]string{}
	for _, found := range named.FindAllStringSubmatch(text, -1) {
		if alias := found[2]; alias != "" && alias == strings.ToLower(alias) { // keywords are in capitals
			names[alias] = found[1]
		}
	}
	return names
}

// placeholder is how our statements name an argument; the driver has another sign for it.
var placeholder = regexp.MustCompile(`\$(\d+)`)

// isWalk finds searches that are scans: an index that is made for one statement, and a
// primary key from somewhere to its end. To begin with the oldest is what a purge does.
var isWalk = regexp.MustCompile(`AUTOMATIC|sqlite_autoindex_\w+ \(id>\?\)$`)

// sqlitePlan looks for scans. SQLite makes no statistics of its own accord, so its plans
// depend on indexes alone; a host may have made some. It takes one connection, since another
// one would not notice that the schema has changed: explaining reads nothing.
func sqlitePlan(db *sql.Conn) planner {
	return func(t *testing.T, s grown.Statement) (faults []string) {
		names := aliases(s.Text)
		found, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+placeholder.ReplaceAllString(s.Text, "?$1"), s.Args...)
		if err != nil {
			return []string{err.Error()} // such as of ON CONFLICT without an index
		}
		defer found.Close()
		for found.Next() {
			var id, parent, unused int
			var detail string
			if err := found.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			verb, rest, _ := strings.Cut(detail, " ")
			name, _, _ := strings.Cut(rest, " ")
			table, isOurs := strings.CutPrefix(name, "partnerkit_")
			if isOurs && strings.HasPrefix(s.Text, "INSERT") && !strings.Contains(s.Text, name) {
				continue // of foreign keys that point here: an insert walks it when one was violated before, and none is
			}
			if alias, ok := names[name]; ok {
				table, isOurs = alias, true
			}
			if isOurs && !small[table] && (verb == "SCAN" || isWalk.MatchString(rest)) {
				faults = append(faults, detail)
			}
		}
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		return faults
	}
}
