package racetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// enough violations end a search.
const enough = 20

// Report is what an exploration found.
type Report struct {
	// Schedules is how many runs there were, serial ones to compare with not
	// counted.
	Schedules int
	// Violations says what was wrong, and in which schedule: the contenders in
	// the order in which they went one step further.
	Violations []string
}

// Explore runs the acts of these names, two or three, through every interleaving of
// their statements, or of whole acts on a database of one process, and returns what
// it found. A search that has found plenty ends early.
func Explore(t testing.TB, db Database, names ...string) Report {
	t.Helper()
	e, err := newExplorer(t, db)
	if err != nil {
		t.Fatal(err)
	}
	acts, err := named(names)
	if err != nil {
		t.Fatal(err)
	}
	var report Report
	if err := e.all(t.Context(), acts, &report); err != nil {
		t.Fatal(err)
	}
	return report
}

// named finds acts by their names.
func named(names []string) ([]act, error) {
	var found []act
	for _, name := range names {
		a, ok := actNamed(name)
		if !ok {
			return nil, fmt.Errorf("racetest: there is no act %q, only %q", name, Acts())
		}
		found = append(found, a)
	}
	if len(found) < 2 || len(found) > maxLanes {
		return nil, fmt.Errorf("racetest: %d acts, want 2 or 3", len(found))
	}
	return found, nil
}

// all is a depth-first search: each run repeats the schedule before it up to the
// last choice that has another side.
func (e *explorer) all(ctx context.Context, acts []act, report *Report) error {
	return everySchedule(func(choose func([]int) int) ([]choice, error) {
		v, trace, err := e.run(ctx, plan{acts: acts, choose: choose, wholeActs: e.isSerial()})
		if err != nil {
			return trace, failed(acts, trace, err)
		}
		err = e.compare(ctx, acts, v, trace, report)
		if len(report.Violations) > enough {
			trace = nil // as if this was the last
		}
		return trace, err
	})
}

// everySchedule calls run with each schedule that there is.
func everySchedule(run func(choose func([]int) int) ([]choice, error)) error {
	for prefix := []int{}; prefix != nil; {
		at := 0
		trace, err := run(func(enabled []int) int {
			if at++; at <= len(prefix) {
				return prefix[at-1]
			}
			return enabled[0]
		})
		if err != nil {
			return err
		}
		prefix = next(trace)
	}
	return nil
}

// some runs n schedules at random.
func (e *explorer) some(ctx context.Context, acts []act, n int, random *rand.Rand, report *Report) error {
	for range n {
		v, trace, err := e.run(ctx, plan{acts: acts, choose: anyOf(random)})
		if err != nil {
			return failed(acts, trace, err)
		}
		if err := e.compare(ctx, acts, v, trace, report); err != nil {
			return err
		}
	}
	return nil
}

func anyOf(random *rand.Rand) func([]int) int {
	return func(enabled []int) int { return enabled[random.IntN(len(enabled))] }
}

// compare reports a run, which must have ended as a serial order of its acts ends.
// Of three acts it may also be a serial order of their transactions: an act looks
// its artifact up first, and another may come in between.
func (e *explorer) compare(ctx context.Context, acts []act, v verdict, trace []choice, report *Report) error {
	serial, err := e.serialOutcomes(ctx, acts)
	if err != nil {
		return err
	}
	if !v.outcome.isOneOf(serial) && len(acts) > 2 {
		if serial, err = e.outcomesOfWholeActs(ctx, acts); err != nil {
			return err
		}
	}
	v.expect(serial)
	report.add(acts, trace, v.violations)
	return nil
}

func (r *Report) add(acts []act, trace []choice, found []string) {
	r.Schedules++
	for _, what := range found {
		r.Violations = append(r.Violations, fmt.Sprintf("%s, schedule %v: %s", nameOf(acts), chosenOf(trace), what))
	}
}

// serialOutcomes are the ends of the acts one after the other, in every order.
func (e *explorer) serialOutcomes(ctx context.Context, acts []act) (outcomes []outcome, err error) {
	for order := range permutations(len(acts)) {
		o, err := e.serialOutcome(ctx, acts, order)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// serialOutcome is the end of these lanes one after the other; others do nothing.
func (e *explorer) serialOutcome(ctx context.Context, acts []act, order []int) (outcome, error) {
	key := fmt.Sprint(nameOf(acts), order)
	if known, ok := e.known[key]; ok {
		return known, nil
	}
	p := plan{acts: acts, choose: inOrder(order)}
	for i := range acts {
		if !slices.Contains(order, i) {
			p.skip = append(p.skip, i)
		}
	}
	v, trace, err := e.run(ctx, p)
	if err != nil {
		return outcome{}, failed(acts, trace, err)
	}
	if len(v.violations) > 0 {
		return outcome{}, fmt.Errorf("%s one after the other, %v: %s", nameOf(acts), order, strings.Join(v.violations, "; "))
	}
	e.known[key] = v.outcome
	return v.outcome, nil
}

// outcomesOfWholeActs are the ends of every order of the acts' transactions.
func (e *explorer) outcomesOfWholeActs(ctx context.Context, acts []act) (outcomes []outcome, err error) {
	err = everySchedule(func(choose func([]int) int) ([]choice, error) {
		v, trace, err := e.run(ctx, plan{acts: acts, choose: choose, wholeActs: true})
		outcomes = append(outcomes, v.outcome)
		return trace, err
	})
	return outcomes, err
}

// inOrder lets each lane come to its end before the next.
func inOrder(order []int) func([]int) int {
	return func(enabled []int) int {
		return order[slices.IndexFunc(order, func(lane int) bool { return slices.Contains(enabled, lane) })]
	}
}

func failed(acts []act, trace []choice, err error) error {
	return fmt.Errorf("%s, schedule %v: %w", nameOf(acts), chosenOf(trace), err)
}

func nameOf(acts []act) string {
	var names []string
	for _, a := range acts {
		names = append(names, a.name)
	}
	return strings.Join(names, " × ")
}

// permutations yields the orders of n things.
func permutations(n int) func(yield func([]int) bool) {
	var extend func(order []int, yield func([]int) bool) bool
	extend = func(order []int, yield func([]int) bool) bool {
		if len(order) == n {
			return yield(order)
		}
		for i := range n {
			if !slices.Contains(order, i) && !extend(append(slices.Clone(order), i), yield) {
				return false
			}
		}
		return true
	}
	return func(yield func([]int) bool) { extend(nil, yield) }
}
