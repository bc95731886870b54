package postgres_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB) storage.DB {
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

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, open)
}
