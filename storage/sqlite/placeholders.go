package sqlite

import (
	"strconv"
	"strings"
)

// positional writes placeholders as ?, where they are $1, $2 and so on in this
// order and once each. For a $1, which is a name to SQLite, the driver walks through
// the list of names, for every value of every statement: with the many values of a
// statement over many rows, that takes longer than the rows. A text with anything
// that a ? could mean something else in is left as it is.
func positional(query string) string {
	if strings.ContainsAny(query, "'\"`[?-/") {
		return query
	}
	var text strings.Builder
	rest := query
	for n := 1; ; n++ {
		before, after, found := strings.Cut(rest, "$")
		text.WriteString(before)
		if !found {
			return text.String()
		}
		var ok bool
		if rest, ok = strings.CutPrefix(after, strconv.Itoa(n)); !ok || !strings.ContainsAny(before[max(0, len(before)-1):], " (,=") {
			return query
		}
		if rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return query
		}
		text.WriteByte('?')
	}
}
