package racetest

import (
	"context"
	"math"
	"math/rand/v2"
)

// manySchedules is how many interleavings of a pair are tried in order, and then at random,
// if the pair is not one of OAuth. Two operations that lock nothing in common can have tens of
// thousands: a change of an app with its audit entry, and a write of app data. And some read
// much before they write: two planners have millions.
const manySchedules = 100

// interleavings are the stages on a database with concurrent writers.
var interleavings = []stage{
	{
		what: "Pairs of operations, every interleaving", unit: "schedules", groups: allGroups, size: 2, sample: 6, always: dangerous(),
		explore: func(ctx context.Context, e *explorer, operations []operation, random *rand.Rand, report *Report) error {
			if !isLong() {
				return e.some(ctx, operations, 3, random, report)
			}
			limit := manySchedules
			if operations[0].group == onTokens {
				limit = math.MaxInt
			}
			return e.upTo(ctx, limit, operations, random, report)
		},
	},
	{
		what: "Triples of operations, random interleavings", unit: "schedules", groups: []group{onTokens}, size: 3, sample: 4,
		explore: func(ctx context.Context, e *explorer, operations []operation, random *rand.Rand, report *Report) error {
			return e.some(ctx, operations, pick(2, 25), random, report)
		},
	},
	{what: "Pairs with a lost commit answer", unit: "schedules", groups: allGroups, size: 2, sample: 4, explore: lostCommits},
	{what: "Pairs with a broken connection", unit: "schedules", groups: []group{onTokens}, size: 2, sample: 2, explore: brokenConnections},
}

// dangerous returns the pairs that are part of every sample: those most likely to reveal a
// bug.
func dangerous() (pairs [][]operation) {
	for _, names := range [][]string{
		{redeem, redeem}, {redeem, burn}, {redeem, spend}, {spend, spend}, {spend, burn}, {spend, uninstall}, {redeem, uninstall}, {redeem, deactivate}, {refresh, refresh}, {refresh, replay}, {refresh, burn},
		{refresh, revoke}, {refresh, revokeAccess}, {refresh, revokeConsent}, {collect, collect}, {collect, uninstall}, {exchange, exchange},
		{exchange, uninstall}, {approve, deny}, {approve, poll}, {approve, uninstall}, {approve, revokeConsent},
		{takeOver, takeOver}, {takeOver, refresh}, {takeOver, replay}, {takeOver, exchange}, {takeOver, uninstall}, {takeOver, revokeConsent}, {takeOver, takerApproves},
		{"Claim", "Claim"}, {"Take over", "Finish"}, {"Take over", "Take over"}, {"Finish", "Finish"},
		{"Write values", "Delete a field"}, {"Write a value", "Delete a value"}, {"Declare a field", "Declare a field"},
		{"Deactivate an app", "Lock and change an app"}, {"Change an app", "Lock and change an app"}, {"Submit an app", "Submit an app"},
		{"Narrow an app", "Add an extension"}, {"First save", "First save"}, {"First save", "Delete an asset"}, {"First approval", "Rejection"},
		{"Plan", "Number events"}, {"Plan", "Release shards"}, {"Plan", "Take a shard of planning"}, {"Deliver", "Fail for good"},
		{"Deliver", "Take a shard of sending"}, {"Deliver", "Purge deliveries"}, {"Fail for now", "Attempt now"}, {"Redeliver", "Redeliver"},
		{"Redeliver", "Purge deliveries"}, {"Take a shard of sending", "Take a shard of sending"},
	} {
		pair, err := named(names)
		if err != nil {
			panic(err) // a name that is not in the table
		}
		pairs = append(pairs, pair)
	}
	return pairs
}
