package storetest

import (
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
)

// exec runs a statement past the store.
func (e *Env) exec(t testing.TB, query string, args ...any) {
	t.Helper()
	_, err := e.Tap.Exec(t.Context(), e.Qualified(query), args...)
	must(t, err)
}

// count reads a number past the store.
func (e *Env) count(t testing.TB, query string, args ...any) int {
	t.Helper()
	var n int
	must(t, storage.One(t.Context(), e.Store, e.Qualified(query), args, &n))
	return n
}

// Qualified puts the schema before our tables in a statement.
func (e *Env) Qualified(query string) string {
	schema := e.Tap.Dialect().Schema
	if schema == "" {
		return query
	}
	return strings.ReplaceAll(query, "partnerkit_", `"`+schema+`".partnerkit_`)
}

// rows counts the rows of a table.
func (e *Env) rows(t testing.TB, table string) int {
	t.Helper()
	return e.count(t, "SELECT COUNT(*) FROM "+table)
}

// slugs counts those of an app.
func (e *Env) slugs(t testing.TB, appID string) int {
	t.Helper()
	return e.count(t, "SELECT COUNT(*) FROM partnerkit_listing_slug WHERE app_id = $1", appID)
}
