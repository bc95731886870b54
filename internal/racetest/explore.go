package racetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// enough is the number of violations that ends a search.
const enough = 20

// Report is the result of an exploration.
type Report struct {
	// Schedules is the number of runs, without the serial runs used for comparison.
	Schedules int
	// Violations describes each violated rule and its schedule: the contenders in the order in
	// which they were released.
	Violations []string
}

// Explore runs two or three operations, given by name, through every interleaving of their
// statements. On a database of one process it runs them through every order of their
// transactions. A search that has found more than 20 violations ends early.
func Explore(t testing.TB, db Database, names ...string) Report {
	t.Helper()
	e, err := newExplorer(t, db)
	if err != nil {
		t.Fatal(err)
	}
	operations, err := named(names)
	if err != nil {
		t.Fatal(err)
	}
	var report Report
	if _, err := e.all(t.Context(), operations, math.MaxInt, &report); err != nil {
		t.Fatal(err)
	}
	return report
}

// named finds operations by their names.
func named(names []string) ([]operation, error) {
	var found []operation
	for _, name := range names {
		a, ok := operationNamed(name)
		if !ok {
			return nil, fmt.Errorf("racetest: unknown operation %q, want one of %q", name, Operations())
		}
		found = append(found, a)
	}
	for _, a := range found {
		if a.group != found[0].group {
			return nil, fmt.Errorf("racetest: %q and %q have nothing in common", found[0].name, a.name)
		}
	}
	if len(found) < 2 || len(found) > maxContenders {
		return nil, fmt.Errorf("racetest: %d operations, want 2 or 3", len(found))
	}
	return found, nil
}

// all searches depth first: each run repeats the schedule before it up to the last choice
// with an untried alternative. It stops after limit schedules, and reports whether it has
// tried all.
func (e *explorer) all(ctx context.Context, operations []operation, limit int, report *Report) (isComplete bool, err error) {
	isComplete = true
	err = everySchedule(func(choose func([]int) int) ([]choice, error) {
		v, trace, err := e.run(ctx, plan{operations: operations, choose: choose, wholeOperations: e.isSerial()})
		if err != nil {
			return trace, failed(operations, trace, err)
		}
		err = e.compare(ctx, operations, v, trace, report)
		if len(report.Violations) > enough || report.Schedules >= limit && next(trace) != nil {
			trace, isComplete = nil, false // end the search
		}
		return trace, err
	})
	return isComplete, err
}

// everySchedule calls run with every possible schedule.
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
func (e *explorer) some(ctx context.Context, operations []operation, n int, random *rand.Rand, report *Report) error {
	for range n {
		v, trace, err := e.run(ctx, plan{operations: operations, choose: anyOf(random), wholeOperations: e.isSerial()})
		if err != nil {
			return failed(operations, trace, err)
		}
		if err := e.compare(ctx, operations, v, trace, report); err != nil {
			return err
		}
	}
	return nil
}

// upTo tries every schedule or, if there are more, limit of them in order and as many at
// random.
func (e *explorer) upTo(ctx context.Context, limit int, operations []operation, random *rand.Rand, report *Report) error {
	isComplete, err := e.all(ctx, operations, limit, report)
	if isComplete || err != nil || len(report.Violations) > enough {
		return err
	}
	return e.some(ctx, operations, limit, random, report)
}

func anyOf(random *rand.Rand) func([]int) int {
	return func(enabled []int) int { return enabled[random.IntN(len(enabled))] }
}

// compare checks that a run ended like some serial order of its operations. Three
// operations may also end like a serial order of their transactions: an operation reads its
// artifact first, and another operation may commit between the two.
func (e *explorer) compare(ctx context.Context, operations []operation, v findings, trace []choice, report *Report) error {
	serial, err := e.serialOutcomes(ctx, operations)
	if err != nil {
		return err
	}
	if !v.outcome.isOneOf(serial) && len(operations) > 2 {
		if serial, err = e.outcomesOfWholeOperations(ctx, operations); err != nil {
			return err
		}
	}
	skipped, err := e.skipped(ctx, operations, v)
	v.expect(slices.Concat(serial, skipped))
	report.add(operations, trace, v.violations)
	return err
}

// skipped returns the outcome of a run if it is that of the other operation alone, and one was
// skipped.
func (e *explorer) skipped(ctx context.Context, operations []operation, v findings) ([]outcome, error) {
	for i, o := range operations {
		if o.Skips == "" || v.outcome.answers[i] != o.Skips {
			continue
		}
		rest, err := e.outcomesWithout(ctx, operations, i)
		for other := range operations {
			if v.struck[other] { // its answer did not arrive
				rest = withoutAnswer(rest, other)
			}
		}
		if err != nil || v.outcome.without(i).isOneOf(rest) {
			return []outcome{v.outcome}, err
		}
	}
	return nil, nil
}

func (r *Report) add(operations []operation, trace []choice, found []string) {
	r.Schedules++
	for _, what := range found {
		r.Violations = append(r.Violations, fmt.Sprintf("%s, schedule %v: %s", nameOf(operations), chosenOf(trace), what))
	}
}

// serialOutcomes returns the outcomes of the operations in every serial order.
func (e *explorer) serialOutcomes(ctx context.Context, operations []operation) (outcomes []outcome, err error) {
	for order := range permutations(len(operations)) {
		o, err := e.serialOutcome(ctx, operations, order)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// serialOutcome returns the outcome of these contenders one after the other. The other
// contenders do nothing.
func (e *explorer) serialOutcome(ctx context.Context, operations []operation, order []int) (outcome, error) {
	key := fmt.Sprint(nameOf(operations), order)
	if known, ok := e.known[key]; ok {
		return known, nil
	}
	p := plan{operations: operations, choose: inOrder(order)}
	for i := range operations {
		if !slices.Contains(order, i) {
			p.skip = append(p.skip, i)
		}
	}
	v, trace, err := e.run(ctx, p)
	if err != nil {
		return outcome{}, failed(operations, trace, err)
	}
	if len(v.violations) > 0 {
		return outcome{}, fmt.Errorf("%s one after the other, %v: %s", nameOf(operations), order, strings.Join(v.violations, "; "))
	}
	e.known[key] = v.outcome
	return v.outcome, nil
}

// outcomesOfWholeOperations returns the outcomes of every order of the operations'
// transactions.
func (e *explorer) outcomesOfWholeOperations(ctx context.Context, operations []operation) (outcomes []outcome, err error) {
	err = everySchedule(func(choose func([]int) int) ([]choice, error) {
		v, trace, err := e.run(ctx, plan{operations: operations, choose: choose, wholeOperations: true})
		outcomes = append(outcomes, v.outcome)
		return trace, err
	})
	return outcomes, err
}

// inOrder releases each contender until its end before the next.
func inOrder(order []int) func([]int) int {
	return func(enabled []int) int {
		return order[slices.IndexFunc(order, func(contender int) bool { return slices.Contains(enabled, contender) })]
	}
}

func failed(operations []operation, trace []choice, err error) error {
	return fmt.Errorf("%s, schedule %v: %w", nameOf(operations), chosenOf(trace), err)
}

func nameOf(operations []operation) string {
	var names []string
	for _, a := range operations {
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
