package racetest

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
)

// lostCommits runs schedules in which one operation commits and its caller gets an error
// instead of the answer. The operation must have happened exactly once. A poll commits
// twice when the code is approved meanwhile: first the time of the poll, which by then has
// no effect. A poll that fails after the first commit goes no further.
func lostCommits(ctx context.Context, e *explorer, operations []operation, random *rand.Rand, report *Report) error {
	serial, err := e.serialOutcomes(ctx, operations)
	if err != nil {
		return err
	}
	for contender := range operations {
		unheard := withoutAnswer(serial, contender)
		if operations[contender].name == poll {
			nothing, err := e.outcomesWithout(ctx, operations, contender)
			if err != nil {
				return err
			}
			unheard = append(unheard, nothing...)
		}
		for range pick(1, 10) {
			v, trace, err := e.run(ctx, plan{operations: operations, choose: anyOf(random), strike: func(all []*node) {
				all[contender].tap.Arm(testdb.FaultLostCommit, 1)
			}})
			if err != nil {
				return failed(operations, trace, err)
			}
			expected := serial
			if v.struck[contender] {
				expected = unheard
			}
			skipped, err := e.skipped(ctx, operations, v)
			if err != nil {
				return err
			}
			v.expect(slices.Concat(expected, skipped))
			report.add(operations, trace, v.violations)
		}
	}
	return nil
}

// brokenConnections terminates the session of one operation at each stop inside its
// transaction. The operation must have had no effect, or must have been retried in another
// session. The other operation must be unaffected.
func brokenConnections(ctx context.Context, e *explorer, operations []operation, random *rand.Rand, report *Report) error {
	serial, err := e.serialOutcomes(ctx, operations)
	if err != nil {
		return err
	}
	for contender := range operations {
		for nth, reached := 1, true; reached; nth++ {
			reached = false
			v, trace, err := e.run(ctx, plan{operations: operations, choose: anyOf(random), before: func(at moment) error {
				if at.contender != contender || at.nth != nth {
					return nil
				}
				if reached = true; at.state[contender] != inside {
					return nil // the driver would open another session
				}
				e.nodes[contender].killed = true
				return e.terminate(ctx, contender)
			}})
			if err != nil {
				return failed(operations, trace, err)
			}
			expected := serial
			if v.outcome.answers[contender] == fault { // an operation about to roll back may still return its answer
				if expected, err = e.outcomesWithout(ctx, operations, contender); err != nil {
					return err
				}
			}
			v.expect(expected)
			report.add(operations, trace, v.violations)
		}
	}
	return nil
}

// terminate ends a contender's session and with it its open transaction.
func (e *explorer) terminate(ctx context.Context, contender int) error {
	var gone bool
	return storage.One(ctx, e.store, "SELECT pg_terminate_backend($1, $2)", []any{e.nodes[contender].session.Load(), stuckAfter.Milliseconds()}, &gone)
}

// outcomesWithout returns the outcomes of the serial orders in which one contender does
// nothing.
func (e *explorer) outcomesWithout(ctx context.Context, operations []operation, contender int) (outcomes []outcome, err error) {
	for order := range permutations(len(operations)) {
		o, err := e.serialOutcome(ctx, operations, slices.DeleteFunc(order, func(i int) bool { return i == contender }))
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

func withoutAnswer(all []outcome, contender int) (masked []outcome) {
	for _, o := range all {
		masked = append(masked, o.without(contender))
	}
	return masked
}

// expect adds a violation unless the run ended with one of the outcomes.
func (v *findings) expect(outcomes []outcome) {
	if !v.outcome.isOneOf(outcomes) {
		v.add("got outcome:\n%s\nwant one of:\n%s", v.outcome, outcomes)
	}
}
