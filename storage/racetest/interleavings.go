package racetest

import (
	"context"
	"math/rand/v2"
)

// interleavings are the stages on a database where several write at once.
var interleavings = []stage{
	{
		what: "Pairs of acts, every interleaving", unit: "schedules", size: 2, sample: 6, always: dangerous(),
		explore: func(ctx context.Context, e *explorer, acts []act, random *rand.Rand, report *Report) error {
			if isLong() {
				return e.all(ctx, acts, report)
			}
			return e.some(ctx, acts, 3, random, report)
		},
	},
	{
		what: "Triples of acts, random interleavings", unit: "schedules", size: 3, sample: 4,
		explore: func(ctx context.Context, e *explorer, acts []act, random *rand.Rand, report *Report) error {
			return e.some(ctx, acts, pick(2, 25), random, report)
		},
	},
	{what: "Pairs with a lost commit answer", unit: "schedules", size: 2, sample: 6, explore: lostCommits},
	{what: "Pairs with a broken connection", unit: "schedules", size: 2, sample: 2, explore: brokenConnections},
}

// dangerous are the pairs in which most can go wrong.
func dangerous() (pairs [][]act) {
	for _, names := range [][]string{
		{redeem, redeem}, {redeem, burn}, {redeem, spend}, {spend, spend}, {spend, burn}, {spend, uninstall}, {redeem, uninstall}, {redeem, deactivate}, {refresh, refresh}, {refresh, replay}, {refresh, burn},
		{refresh, revoke}, {refresh, revokeAccess}, {refresh, revokeConsent}, {collect, collect}, {collect, uninstall}, {exchange, exchange},
		{exchange, uninstall}, {approve, deny}, {approve, poll}, {approve, uninstall}, {approve, revokeConsent},
	} {
		pair, err := named(names)
		if err != nil {
			panic(err) // they stand in the table
		}
		pairs = append(pairs, pair)
	}
	return pairs
}
