package sqlstore

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/identity"
)

// Times are Unix milliseconds; the zero time is NULL, or 0 where a column
// cannot be.

func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func nullMS(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

func fromMS(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func fromNullMS(ms sql.NullInt64) time.Time { return fromMS(ms.Int64) }

// nullText returns NULL for the empty string.
func nullText(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// nullInt returns NULL for 0.
func nullInt(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// list encodes strings as JSON text.
func list(values []string) string {
	if len(values) == 0 {
		return "[]"
	}
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(text)
}

// parseList reads what list wrote.
func parseList(text string) ([]string, error) {
	var values []string
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return nil, fmt.Errorf("stored list: %w", err)
	}
	return values, nil
}

// parseScopes reads scopes as they are stored: with a space between them, as String
// writes them. The scopes of several approvals may be more than one request can name.
func parseScopes(text string) (identity.Scopes, error) {
	if text == "" {
		return identity.Scopes{}, nil
	}
	names := strings.Split(text, " ")
	if len(names) <= identity.MaxScopes {
		s, err := identity.NewScopes(names...)
		return s, wrap("stored scopes", err)
	}
	var all identity.Scopes
	for names := range slices.Chunk(names, identity.MaxScopes) {
		s, err := identity.NewScopes(names...)
		if err != nil {
			return all, wrap("stored scopes", err)
		}
		all = all.Union(s)
	}
	return all, nil
}

// stored is a list of scopes as it is kept, and where it goes.
type stored struct {
	text string
	to   *identity.Scopes
}

// decoded parses stored lists, stopping at the first bad one. What an app, its
// installation and its token have is mostly the same, and then parsed once.
func decoded(lists ...stored) error {
	var last stored
	for _, list := range lists {
		if last.to != nil && list.text == last.text {
			*list.to = *last.to
			continue
		}
		var err error
		if *list.to, err = parseScopes(list.text); err != nil {
			return err
		}
		last = list
	}
	return nil
}
