package racetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

// orders are the stages on a database with one writer.
var orders = []stage{
	{
		what: "Pairs of acts, every order", unit: "orders", size: 2, sample: 20,
		explore: func(ctx context.Context, e *explorer, acts []act, _ *rand.Rand, report *Report) error {
			return e.all(ctx, acts, report)
		},
	},
	{what: "Pairs with a fault at every statement", unit: "faults", size: 2, sample: 2, explore: faultsEverywhere},
	{what: "Pairs with a crash at every statement", unit: "crashes", size: 2, sample: 2, explore: crashesEverywhere},
}

// faultsEverywhere strikes each act of each order at each of its statements. It has
// happened or not as its caller was told, and the other notices nothing.
func faultsEverywhere(ctx context.Context, e *explorer, acts []act, _ *rand.Rand, report *Report) error {
	for order := range permutations(len(acts)) {
		for lane := range acts {
			for _, fault := range []storetest.Fault{storetest.FaultError, storetest.FaultCancel, storetest.FaultLostCommit} {
				for nth, struck := 1, true; struck; nth++ {
					v, trace, err := e.run(ctx, plan{acts: acts, choose: inOrder(order), strike: func(all []*node) { all[lane].tap.Arm(fault, nth) }})
					if err != nil {
						return failed(acts, trace, err)
					}
					struck = v.struck[lane]
					if err := e.expectFault(ctx, acts, order, lane, fault, &v); err != nil {
						return err
					}
					report.add(acts, trace, v.violations)
				}
			}
		}
	}
	return nil
}

func (e *explorer) expectFault(ctx context.Context, acts []act, order []int, lane int, kind storetest.Fault, v *verdict) error {
	whole, err := e.serialOutcome(ctx, acts, order)
	if err != nil {
		return err
	}
	rest, err := e.serialOutcome(ctx, acts, slices.DeleteFunc(slices.Clone(order), func(i int) bool { return i == lane }))
	if err != nil {
		return err
	}
	isFault := v.outcome.answers[lane] == fault
	switch {
	case !v.struck[lane], kind == storetest.FaultCancel && !isFault: // begun, and finished
		v.expect([]outcome{whole})
	case kind == storetest.FaultLostCommit:
		v.expect([]outcome{whole.without(lane)})
	default:
		v.expect([]outcome{rest})
	}
	return nil
}

// crashesEverywhere looks at what a crash before each statement, and after the
// last, would leave: all that had an answer, and nothing else. Then those without an
// answer try again there.
func crashesEverywhere(ctx context.Context, e *explorer, acts []act, _ *rand.Rand, report *Report) error {
	if e.crash == nil {
		return nil
	}
	for order := range permutations(len(acts)) {
		for n := range len(order) + 1 { // afterwards they are known
			if _, err := e.serialOutcome(ctx, acts, order[:n]); err != nil {
				return err
			}
		}
		v, trace, err := e.run(ctx, plan{acts: acts, choose: inOrder(order), before: func(at moment) error {
			found, err := e.afterCrash(ctx, acts, order, at)
			report.add(acts, []choice{{nil, at.lane}, {nil, at.nth}}, found)
			return err
		}})
		if err != nil {
			return failed(acts, trace, err)
		}
		report.add(acts, trace, v.violations)
	}
	return nil
}

// afterCrash opens what is left at this moment.
func (e *explorer) afterCrash(ctx context.Context, acts []act, order []int, at moment) (found []string, err error) {
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
	judge := func(all []contender, order []int) error {
		v, err := at.world.judge(ctx, store, all)
		if err != nil {
			return err
		}
		expected, err := e.serialOutcome(ctx, acts, order)
		if err != nil {
			return err
		}
		v.expect([]outcome{expected})
		found = append(found, v.violations...)
		return nil
	}
	all := slices.Clone(at.all)
	if err := judge(all, slices.DeleteFunc(slices.Clone(order), func(i int) bool { return !isOver(i) })); err != nil {
		return nil, err
	}
	for _, i := range order {
		if !isOver(i) {
			told, err := acts[i].do(ctx, call{Store: store, w: at.world, lane: at.world.lanes[i], others: acts})
			all[i] = contender{act: acts[i], answer: told, err: err}
		}
	}
	return found, judge(all, order)
}
