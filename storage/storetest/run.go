package storetest

import (
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// Opener opens an empty database that is closed and removed when t ends.
type Opener func(t testing.TB) storage.DB

// Run runs every case of the suite, each on a database of its own. Those of a store begin
// with made, which may have our tables already, as [SQLite] does.
func Run(t *testing.T, open, made Opener) {
	t.Run("DB", func(t *testing.T) {
		t.Parallel()
		runCases(t, dbCases, func(t *testing.T, run func(*testing.T, storage.DB)) { run(t, open(t)) })
	})
	t.Run("Store", func(t *testing.T) {
		t.Parallel()
		runCases(t, storeCases, func(t *testing.T, run func(*testing.T, *Env)) { run(t, NewEnv(t, made)) })
	})
}

// RunSending runs the cases of webhooks and their deliveries alone, for a database whose
// tables of these were changed.
func RunSending(t *testing.T, open Opener) {
	runCases(t, sendingCases, func(t *testing.T, run func(*testing.T, *Env)) { run(t, NewEnv(t, open)) })
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

// Env is a store under test and the tap below it.
type Env struct {
	*sqlstore.Store
	Tap *Tap
}

// NewEnv opens a store through a tap.
func NewEnv(t testing.TB, open Opener) *Env {
	t.Helper()
	return newEnv(t, open, sqlstore.Config{})
}

func newEnv(t testing.TB, open Opener, cfg sqlstore.Config) *Env {
	t.Helper()
	tap := NewTap(open(t))
	store, err := sqlstore.New(t.Context(), tap, cfg)
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
