package sqlite_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

func TestMain(m *testing.M) {
	if child(m) {
		return
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB) storage.DB {
	t.Helper()
	db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "test.db")})
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
	storetest.Run(t, storetest.OnSQL(testdb.SQLite))
}

func TestDatabase(t *testing.T) {
	t.Parallel()
	storetest.RunSQL(t, open, testdb.SQLite)
}
