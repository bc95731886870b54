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

// SeedVar names the variable that repeats a run: the seed that it printed.
const SeedVar = "PARTNERKIT_RACE_SEED"

// isLong: proofs were asked for, so nothing is left out.
func isLong() bool { return os.Getenv("PARTNERKIT_PROVE") != "" }

// pick is how much to do: all of it in a proof, and a sample otherwise.
func pick[T any](sample, all T) T {
	if isLong() {
		return all
	}
	return sample
}

// Run explores the races on a database, or a sample of them unless
// PARTNERKIT_PROVE is set.
//
// Where several can write at once, it runs every pair of acts through every
// interleaving of their statements, and triples through random ones; then pairs with
// a commit whose answer is lost, and with a connection that breaks. Where one writes
// at a time it runs every order of the transactions of every pair, with a fault, and
// with a crash, at each statement. Each part has a database of its own.
func Run(t *testing.T, open Opener) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(SeedVar); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", SeedVar, err)
		}
	}
	t.Logf("%s=%d repeats what is random here", SeedVar, seed)
	db := open(t)
	dialect := db.Connect(t).Dialect()
	stages, on := interleavings, dialect.Name
	if dialect.IsOneProcess {
		stages = orders
	}
	for _, s := range stages {
		t.Run(s.what, func(t *testing.T) {
			newCrew(t, open(t)).work(t, proof.Begin(t, s.what+", "+on, s.unit), seed, s)
		})
	}
}

// stage is one part of Run: combinations of acts, and what is done with each.
type stage struct {
	what, unit string
	size       int     // acts in a combination
	sample     int     // combinations in a sample
	always     [][]act // what is in every sample
	explore    func(ctx context.Context, e *explorer, acts []act, random *rand.Rand, report *Report) error
}

// acts returns all combinations in a proof, and a sample of them otherwise.
func (s stage) acts(random *rand.Rand) [][]act {
	all := combinations(s.size)
	if isLong() {
		return all
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return append(slices.Clone(s.always), all[:min(s.sample, len(all))]...)
}

// crew are explorers that share the work.
type crew []*explorer

// newCrew: as many as a small server keeps busy. Databases of one process have one
// writer, and so one explorer.
func newCrew(t *testing.T, db Database) crew {
	t.Helper()
	var all crew
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

func (all crew) work(t *testing.T, p *proof.Proof, seed uint64, s stage) {
	t.Helper()
	combinations := s.acts(rand.New(rand.NewPCG(seed, 0)))
	type job struct {
		n    uint64
		acts []act
	}
	jobs := make(chan job)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var working sync.WaitGroup
	for _, e := range all {
		working.Go(func() {
			for j := range jobs {
				var report Report
				err := s.explore(ctx, e, j.acts, rand.New(rand.NewPCG(seed, j.n)), &report)
				if err != nil {
					t.Errorf("%s: %v", nameOf(j.acts), err)
					cancel()
					return
				}
				p.Tried(report.Schedules)
				t.Logf("%s: %d %s, %d violations", nameOf(j.acts), report.Schedules, s.unit, len(report.Violations))
				for _, what := range report.Violations {
					p.Violation("%s", what)
				}
			}
		})
	}
	for i, acts := range combinations {
		select {
		case jobs <- job{uint64(i) + 1, acts}:
		case <-ctx.Done():
		}
	}
	close(jobs)
	working.Wait()
	p.Notef("%s%d combinations of %d acts", pick("a sample, ", ""), len(combinations), len(combinations[0]))
}

// combinations of as many acts, each also with itself.
func combinations(size int) (all [][]act) {
	var extend func(from int, chosen []act)
	extend = func(from int, chosen []act) {
		if len(chosen) == size {
			all = append(all, chosen)
			return
		}
		for i := from; i < len(acts); i++ {
			extend(i, append(append([]act{}, chosen...), acts[i]))
		}
	}
	extend(0, nil)
	return all
}
