package testdb

import (
	"testing"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

// Postgres is an [Opener] for tests that use a store: an empty schema on the server named
// by PARTNERKIT_TEST_POSTGRES. Without the variable it skips the test.
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
