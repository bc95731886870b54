package storetest

import (
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
)

// Run checks an implementation of [partnerkit.Store] through its methods: their effects,
// their races, and cancelled contexts. Each case opens an empty store; open must close the
// store when t ends. There is a subtest for each consumer of the store, such as
// "oauthserver" and "webhooks".
func Run(t *testing.T, open func(t testing.TB) partnerkit.Store) {
	for _, g := range storeGroups {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			runCases(t, g.cases, func(t *testing.T, run func(*testing.T, partnerkit.Store)) { run(t, open(t)) })
		})
	}
}

// RunSQL checks a database under sqlstore: the contract of [storage.DB], transactions of the
// host, and every operation of the store with an error at each of its statements. Each case
// has its own database. Cases of the contract open it with open. Cases of the store open it
// with made, which may return a database that has the tables already, as testdb.SQLite does.
func RunSQL(t *testing.T, open, made testdb.Opener) {
	t.Run("DB", func(t *testing.T) {
		t.Parallel()
		runCases(t, dbCases, func(t *testing.T, run func(*testing.T, storage.DB)) { run(t, open(t)) })
	})
	t.Run("Store", func(t *testing.T) {
		t.Parallel()
		runCases(t, sqlCases, func(t *testing.T, run func(*testing.T, *Env)) { run(t, NewEnv(t, made)) })
	})
}

// RunSending runs only the cases of webhooks and deliveries, from both suites. It is for a
// database whose delivery tables were changed, for example partitioned.
func RunSending(t *testing.T, open testdb.Opener) {
	runCases(t, sendingCases, func(t *testing.T, run func(*testing.T, partnerkit.Store)) { run(t, NewEnv(t, open)) })
	runCases(t, sqlSendingCases, func(t *testing.T, run func(*testing.T, *Env)) { run(t, NewEnv(t, open)) })
}

// OnSQL returns a function for [Run] that opens a store of sqlstore on a database.
func OnSQL(open testdb.Opener) func(t testing.TB) partnerkit.Store {
	return func(t testing.TB) partnerkit.Store { return NewEnv(t, open) }
}

// testCase is one case on a subject S.
type testCase[S any] struct {
	name string
	run  func(t *testing.T, subject S)
}

func runCases[S any](t *testing.T, cases []testCase[S], with func(*testing.T, func(*testing.T, S))) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			with(t, c.run)
		})
	}
}
