package sqlstore

import (
	"database/sql"
	"encoding/json"
	"fmt"
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

// nullText is NULL for the empty string.
func nullText(s string) any {
	if s == "" {
		return nil
	}
	return s
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

func scopeList(s identity.Scopes) string { return list(s.Names()) }

// parseList and parseScopes read what list wrote.
func parseList(text string) ([]string, error) {
	var values []string
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return nil, fmt.Errorf("stored list: %w", err)
	}
	return values, nil
}

// A scope has neither quotes nor backslashes, so that nearly every list can be
// read without a JSON parser; tokens are verified all the time.
func parseScopes(text string) (identity.Scopes, error) {
	inner, ok := strings.CutPrefix(text, `["`)
	inner, end := strings.CutSuffix(inner, `"]`)
	if ok && end && !strings.Contains(inner, `\`) {
		return identity.NewScopes(strings.Split(inner, `","`)...)
	}
	values, err := parseList(text)
	if err != nil {
		return identity.Scopes{}, err
	}
	return identity.NewScopes(values...)
}

// decoded parses several stored scope lists, stopping at the first bad one.
func decoded(into map[*identity.Scopes]string) error {
	for scopes, text := range into {
		var err error
		if *scopes, err = parseScopes(text); err != nil {
			return err
		}
	}
	return nil
}
