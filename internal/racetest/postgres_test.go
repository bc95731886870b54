package racetest_test

import (
	"testing"

	"github.com/partnerkit/partnerkit/internal/racetest"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

// onPostgres returns a new schema. between wraps the connection of each node.
func onPostgres(t testing.TB, between func(storage.DB) storage.DB) racetest.Database {
	t.Helper()
	url, schema := testenv.Postgres(t)
	return racetest.Database{Connect: func(t testing.TB) storage.DB {
		t.Helper()
		cfg := postgres.Config{Schema: schema, MaxConns: 1, IdleTransaction: -1} // a contender stops for as long as it takes
		db, err := postgres.OpenDB(t.Context(), withOption(url, "synchronous_commit=off"), cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return between(db)
	}}
}

func nothing(db storage.DB) storage.DB { return db }

func TestPostgres(t *testing.T) {
	t.Parallel()
	racetest.Run(t, func(t testing.TB) racetest.Database { return onPostgres(t, nothing) })
}
