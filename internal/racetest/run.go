package racetest

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/proof"
)

// SeedVar is the environment variable that repeats a run with the seed that it logged.
const SeedVar = "PARTNERKIT_RACE_SEED"

// isLong reports whether the complete exploration was requested.
func isLong() bool { return os.Getenv("PARTNERKIT_PROVE") != "" }

// pick returns all in a complete exploration and sample otherwise.
func pick[T any](sample, all T) T {
	if isLong() {
		return all
	}
	return sample
}

// Run explores the races on a database, or a sample of them unless
// PARTNERKIT_PROVE is set.
//
// On a database with concurrent writers, Run takes every pair of operations through every
// interleaving of their statements, and triples through random ones. It then takes pairs
// through a commit whose answer is lost and through a broken connection. On a database with
// one writer it runs every order of the transactions of every pair, with a fault and with a
// crash at each statement. Each stage has its own database.
func Run(t *testing.T, open Opener) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(SeedVar); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", SeedVar, err)
		}
	}
	t.Logf("%s=%d repeats this run's random choices", SeedVar, seed)
	db := open(t)
	dialect := db.Connect(t).Dialect()
	stages, on := interleavings, dialect.Name
	if dialect.IsOneProcess {
		stages = orders
	}
	for _, s := range stages {
		t.Run(s.what, func(t *testing.T) {
			newPool(t, open(t)).work(t, proof.Begin(t, s.what+", "+on, s.unit), seed, s)
		})
	}
}

// stage is one part of Run: combinations of operations and the function that explores each.
type stage struct {
	what, unit string
	size       int           // operations in a combination
	groups     []group       // whose operations are combined with each other
	sample     int           // combinations of each group in a sample
	always     [][]operation // combinations in every sample
	explore    func(ctx context.Context, e *explorer, operations []operation, random *rand.Rand, report *Report) error
}

// operations returns all combinations in a proof, and a sample of them of each group
// otherwise.
func (s stage) operations(random *rand.Rand) (chosen [][]operation) {
	if !isLong() {
		chosen = slices.Clone(s.always)
	}
	for _, in := range s.groups {
		all := combinations(operationsIn(in), s.size)
		if !isLong() {
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			all = all[:min(s.sample, len(all))]
		}
		chosen = append(chosen, all...)
	}
	return chosen
}

// pool is a set of explorers that share the combinations.
type pool []*explorer

// newPool opens three explorers, which keep a small server busy. A database of one process
// has one writer and needs one explorer.
func newPool(t *testing.T, db Database) pool {
	t.Helper()
	var all pool
	for range 3 {
		e, err := newExplorer(t, db)
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, e); e.isSerial() {
			break
		}
	}
	return all
}

func (all pool) work(t *testing.T, p *proof.Proof, seed uint64, s stage) {
	t.Helper()
	combinations := s.operations(rand.New(rand.NewPCG(seed, 0)))
	type job struct {
		n          uint64
		operations []operation
	}
	jobs := make(chan job)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var working sync.WaitGroup
	var shards sync.Mutex // the scenes of one database share its shards
	explore := func(e *explorer, j job) (report Report, err error) {
		if j.operations[0].group == onQueue {
			shards.Lock()
			defer shards.Unlock()
		}
		err = s.explore(ctx, e, j.operations, rand.New(rand.NewPCG(seed, j.n)), &report)
		return report, err
	}
	for _, e := range all {
		working.Go(func() {
			for j := range jobs {
				report, err := explore(e, j)
				if err != nil {
					t.Errorf("%s: %v", nameOf(j.operations), err)
					cancel()
					return
				}
				p.Tried(report.Schedules)
				t.Logf("%s: %d %s, %d violations", nameOf(j.operations), report.Schedules, s.unit, len(report.Violations))
				for _, what := range report.Violations {
					p.Violation("%s", what)
				}
			}
		})
	}
	for i, operations := range combinations {
		select {
		case jobs <- job{uint64(i) + 1, operations}:
		case <-ctx.Done():
		}
	}
	close(jobs)
	working.Wait()
	p.Notef("%s%d combinations of %d operations", pick("a sample, ", ""), len(combinations), len(combinations[0]))
}

// combinations returns every combination of size operations. An operation may occur more
// than once.
func combinations(operations []operation, size int) (all [][]operation) {
	var extend func(from int, chosen []operation)
	extend = func(from int, chosen []operation) {
		if len(chosen) == size {
			all = append(all, chosen)
			return
		}
		for i := from; i < len(operations); i++ {
			extend(i, append(append([]operation{}, chosen...), operations[i]))
		}
	}
	extend(0, nil)
	return all
}
