package storetest

import (
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
)

// Env is a store under test, the tap below it, and what the cases ask of its tables.
type Env struct{ *testdb.Env }

// NewEnv is [testdb.NewEnv].
func NewEnv(t testing.TB, open testdb.Opener) *Env {
	t.Helper()
	return &Env{testdb.NewEnv(t, open)}
}

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
