package racetest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// orders are the stages on a database with one writer.
var orders = []stage{
	{
		what: "Pairs of operations, every order", unit: "orders", groups: allGroups, size: 2, sample: 20, always: dangerous(),
		explore: func(ctx context.Context, e *explorer, operations []operation, random *rand.Rand, report *Report) error {
			limit := math.MaxInt
			if operations[0].group == onQueue {
				limit = pick(20, manySchedules)
			}
			return e.upTo(ctx, limit, operations, random, report)
		},
	},
	{what: "Pairs with a fault at every statement", unit: "faults", groups: allGroups, size: 2, sample: 2, explore: faultsEverywhere},
	{what: "Pairs with a crash at every statement", unit: "crashes", groups: []group{onTokens, onApps}, size: 2, sample: 2, explore: crashesEverywhere},
}

// faultsEverywhere injects a fault into each operation of each order at each of its
// statements. The operation must have had the effect that its answer reports, and the other
// operation must be unaffected.
func faultsEverywhere(ctx context.Context, e *explorer, operations []operation, _ *rand.Rand, report *Report) error {
	for order := range permutations(len(operations)) {
		for contender := range operations {
			for _, fault := range []testdb.Fault{testdb.FaultError, testdb.FaultCancel, testdb.FaultLostCommit} {
				for nth, struck := 1, true; struck; nth++ {
					v, trace, err := e.run(ctx, plan{operations: operations, choose: inOrder(order), strike: func(all []*node) { all[contender].tap.Arm(fault, nth) }})
					if err != nil {
						return failed(operations, trace, err)
					}
					struck = v.struck[contender]
					if err := e.expectFault(ctx, operations, order, contender, fault, &v); err != nil {
						return err
					}
					report.add(operations, trace, v.violations)
				}
			}
		}
	}
	return nil
}

func (e *explorer) expectFault(ctx context.Context, operations []operation, order []int, contender int, kind testdb.Fault, v *findings) error {
	whole, err := e.serialOutcome(ctx, operations, order)
	if err != nil {
		return err
	}
	rest, err := e.serialOutcome(ctx, operations, slices.DeleteFunc(slices.Clone(order), func(i int) bool { return i == contender }))
	if err != nil {
		return err
	}
	isFault := v.outcome.answers[contender] == fault
	switch {
	case !v.struck[contender], kind == testdb.FaultCancel && !isFault: // started before the fault, and finished
		v.expect([]outcome{whole})
	case kind == testdb.FaultLostCommit:
		v.expect([]outcome{whole.without(contender)})
	default:
		v.expect([]outcome{rest})
	}
	return nil
}

// crashesEverywhere copies the database before each statement and after the last, as a
// crash would leave it. The copy must contain every operation that has returned and nothing
// else. The remaining operations are then retried on the copy.
func crashesEverywhere(ctx context.Context, e *explorer, operations []operation, _ *rand.Rand, report *Report) error {
	if e.crash == nil {
		return nil
	}
	for order := range permutations(len(operations)) {
		for n := range len(order) + 1 { // fills the cache of serial outcomes
			if _, err := e.serialOutcome(ctx, operations, order[:n]); err != nil {
				return err
			}
		}
		v, trace, err := e.run(ctx, plan{operations: operations, choose: inOrder(order), before: func(at moment) error {
			found, err := e.afterCrash(ctx, operations, order, at)
			report.add(operations, []choice{{nil, at.contender}, {nil, at.nth}}, found)
			return err
		}})
		if err != nil {
			return failed(operations, trace, err)
		}
		report.add(operations, trace, v.violations)
	}
	return nil
}

// afterCrash opens and checks the database that a crash would leave at this moment.
func (e *explorer) afterCrash(ctx context.Context, operations []operation, order []int, at moment) (found []string, err error) {
	db, err := e.crash(ctx)
	if err != nil {
		return nil, err
	}
	store, err := sqlstore.New(ctx, db, sqlstore.Config{})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	isOver := func(i int) bool { return at.state[i] == ended }
	check := func(all []result, order []int) error {
		v, err := at.scenario.check(ctx, store, all)
		if err != nil {
			return err
		}
		expected, err := e.serialOutcome(ctx, operations, order)
		if err != nil {
			return err
		}
		v.expect([]outcome{expected})
		found = append(found, v.violations...)
		return nil
	}
	all := slices.Clone(at.all)
	if err := check(all, slices.DeleteFunc(slices.Clone(order), func(i int) bool { return !isOver(i) })); err != nil {
		return nil, err
	}
	for _, i := range order {
		if !isOver(i) {
			got, err := at.scenario.do(ctx, i, store)
			all[i] = result{operation: operations[i], answer: got, err: err}
		}
	}
	return found, check(all, order)
}
