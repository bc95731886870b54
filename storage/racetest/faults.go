package racetest

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

// lostCommits runs schedules in which one act commits and never hears so. It has
// happened all the same, once. A poll commits twice when the code is approved meanwhile:
// first its note, which by then changes nothing. After that one it goes no further.
func lostCommits(ctx context.Context, e *explorer, acts []act, random *rand.Rand, report *Report) error {
	serial, err := e.serialOutcomes(ctx, acts)
	if err != nil {
		return err
	}
	for lane := range acts {
		unheard := withoutAnswer(serial, lane)
		if acts[lane].name == poll {
			nothing, err := e.outcomesWithout(ctx, acts, lane)
			if err != nil {
				return err
			}
			unheard = append(unheard, nothing...)
		}
		for range pick(1, 10) {
			v, trace, err := e.run(ctx, plan{acts: acts, choose: anyOf(random), strike: func(all []*node) {
				all[lane].tap.Arm(storetest.FaultLostCommit, 1)
			}})
			if err != nil {
				return failed(acts, trace, err)
			}
			expected := serial
			if v.struck[lane] {
				expected = unheard
			}
			v.expect(expected)
			report.add(acts, trace, v.violations)
		}
	}
	return nil
}

// brokenConnections ends the session of one act at each stop inside of its
// transaction. It has not happened, or changed nothing anyway, or went another way; and
// the other goes on.
func brokenConnections(ctx context.Context, e *explorer, acts []act, random *rand.Rand, report *Report) error {
	serial, err := e.serialOutcomes(ctx, acts)
	if err != nil {
		return err
	}
	for lane := range acts {
		for nth, reached := 1, true; reached; nth++ {
			reached = false
			v, trace, err := e.run(ctx, plan{acts: acts, choose: anyOf(random), before: func(at moment) error {
				if at.lane != lane || at.nth != nth {
					return nil
				}
				if reached = true; at.state[lane] != inside {
					return nil // the driver would open another one
				}
				e.lanes[lane].killed = true
				return e.terminate(ctx, lane)
			}})
			if err != nil {
				return failed(acts, trace, err)
			}
			expected := serial
			if v.outcome.answers[lane] == fault { // not so when it was about to roll back, with an answer
				if expected, err = e.outcomesWithout(ctx, acts, lane); err != nil {
					return err
				}
			}
			v.expect(expected)
			report.add(acts, trace, v.violations)
		}
	}
	return nil
}

// terminate ends a lane's session, and with it what it has open.
func (e *explorer) terminate(ctx context.Context, lane int) error {
	var gone bool
	return storage.One(ctx, e.store, "SELECT pg_terminate_backend($1, $2)", []any{e.lanes[lane].session.Load(), stuckAfter.Milliseconds()}, &gone)
}

// outcomesWithout are the ends of the serial orders in which one lane does nothing.
func (e *explorer) outcomesWithout(ctx context.Context, acts []act, lane int) (outcomes []outcome, err error) {
	for order := range permutations(len(acts)) {
		o, err := e.serialOutcome(ctx, acts, slices.DeleteFunc(order, func(i int) bool { return i == lane }))
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

func withoutAnswer(all []outcome, lane int) (masked []outcome) {
	for _, o := range all {
		masked = append(masked, o.without(lane))
	}
	return masked
}

// expect adds a violation when the run ended otherwise.
func (v *verdict) expect(outcomes []outcome) {
	if !v.outcome.isOneOf(outcomes) {
		v.add("ended so:\n%s\nand not so:\n%s", v.outcome, outcomes)
	}
}
