package racetest_test

import (
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/racetest"
)

// Run is called by a driver's own test, beside storetest.Run. This example tests
// PostgreSQL, each time in a new schema.
func ExampleRun() {
	_ = func(t *testing.T) { // func TestRaces(t *testing.T)
		racetest.Run(t, func(t testing.TB) racetest.Database {
			schema := "races_" + strings.ToLower(rand.Text()) // to be dropped afterwards
			return racetest.Database{Connect: func(t testing.TB) storage.DB {
				db, err := postgres.OpenDB(t.Context(), os.Getenv("DATABASE_URL"), postgres.Config{Schema: schema, MaxConns: 1, IdleTransaction: -1})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				return db
			}}
		})
	}
}
