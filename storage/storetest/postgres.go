package storetest

import (
	"testing"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

// Postgres is an [Opener] for tests of what stands on a store: an empty schema on the
// server that the tests have. It skips the test when there is none.
func Postgres(t testing.TB) storage.DB {
	t.Helper()
	url, schema := testenv.Postgres(t)
	db, err := postgres.OpenDB(t.Context(), url, postgres.Config{Schema: schema, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Databases are the openers of both databases, by name.
var Databases = map[string]Opener{"sqlite": SQLite, "postgres": Postgres}
