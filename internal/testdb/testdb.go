// Package testdb opens databases and stores for tests: empty ones that are removed when the
// test ends, on SQLite or PostgreSQL, with a tap that counts statements and makes them fail.
package testdb

import (
	"strings"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// Opener opens an empty database that is closed and removed when t ends.
type Opener func(t testing.TB) storage.DB

// Databases has the openers of both databases, by name.
var Databases = map[string]Opener{"sqlite": SQLite, "postgres": Postgres}

// Env is a store under test and the tap below it.
type Env struct {
	*sqlstore.Store
	Tap *Tap
}

// NewEnv opens a store through a tap.
func NewEnv(t testing.TB, open Opener) *Env {
	t.Helper()
	tap := NewTap(open(t))
	store, err := sqlstore.New(t.Context(), tap, sqlstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return &Env{Store: store, Tap: tap}
}

// Race calls contend n times at once, from goroutines that a barrier releases
// together, and returns when all have returned.
func Race(n int, contend func(i int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-start
			contend(i)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// Qualified puts the schema before our tables in a statement.
func (e *Env) Qualified(query string) string {
	schema := e.Tap.Dialect().Schema
	if schema == "" {
		return query
	}
	return strings.ReplaceAll(query, "partnerkit_", `"`+schema+`".partnerkit_`)
}
