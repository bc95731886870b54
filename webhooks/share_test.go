package webhooks_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// fleetOf creates a fleet of live nodes and of shards with these holders, "" for a free
// shard; a holder with a cross is dead.
func fleetOf(nodes int, holders ...string) webhookstore.Fleet {
	fleet := webhookstore.Fleet{Nodes: nodes}
	for i, holder := range holders {
		shard := webhookstore.Shard{ShardID: webhookstore.ShardID{Kind: webhookstore.SendShard, Number: i}, Holder: holder, Epoch: 1, LeaseLeft: time.Second}
		if holder != "" && holder[0] == '+' {
			shard.LeaseLeft = 0
		}
		fleet.Shards = append(fleet.Shards, shard)
	}
	return fleet
}

// What one node takes, and what it gives up.
func TestShare(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fleet      webhookstore.Fleet
		take, give []int
	}{
		"alone":                            {fleetOf(1, "", "", ""), []int{0, 1, 2}, nil},
		"alone, not noticed yet":           {fleetOf(0, "", "", ""), []int{0, 1, 2}, nil},
		"alone, all taken":                 {fleetOf(1, "a", "a", "a"), nil, nil},
		"after one that died":              {fleetOf(1, "+b", "a", "+b"), []int{0, 2}, nil},
		"a lease that is not over":         {fleetOf(1, "b", "a", ""), []int{2}, nil},
		"the first of two":                 {fleetOf(2, "", "", "", ""), []int{0, 1}, nil},
		"another has come":                 {fleetOf(2, "a", "a", "a", "a"), nil, []int{2, 3}},
		"another has come, an odd number":  {fleetOf(2, "a", "a", "a"), nil, []int{2}},
		"the other has the odd one":        {fleetOf(2, "b", "b", "a", "", ""), []int{3, 4}, nil},
		"the other has too many":           {fleetOf(2, "b", "b", "b", "b", "a"), nil, nil},
		"both have one more":               {fleetOf(3, "a", "a", "b", "b"), nil, nil},
		"a name before it has one more":    {fleetOf(3, "A", "A", "a", "a"), nil, []int{3}},
		"more nodes than shards":           {fleetOf(5, "b", "", "c"), []int{1}, nil},
		"more nodes than shards, all held": {fleetOf(5, "b", "c", "d"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taken, excess := webhooks.Share("a", test.fleet)
			var take, give []int
			for _, shard := range taken {
				take = append(take, shard.Number)
			}
			for id := range excess {
				give = append(give, id.Number)
			}
			slices.Sort(give)
			if diff := cmp.Diff([][]int{test.take, test.give}, [][]int{take, give}); diff != "" {
				t.Errorf("take and give (-want +got):\n%s", diff)
			}
		})
	}
}

// After several beats, in any order and from any start, each shard is held, the numbers of
// two nodes differ by at most one, and shards no longer move.
func TestSharesEvenOut(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(1, 1))
	for nodes := 1; nodes <= 20; nodes++ {
		for range 50 {
			holders := make([]string, webhookstore.DefaultShards)
			for i := range holders {
				holders[i] = []string{"", "+dead", nodeName(dice.IntN(nodes)), nodeName(0)}[dice.IntN(4)]
			}
			fleet := fleetOf(nodes, holders...)
			start := fmt.Sprint(holders)
			for range 6 * nodes {
				beat(fleet, nodeName(dice.IntN(nodes)), dice)
			}
			for range 4 { // all nodes, in case the dice left one out
				for i := range nodes {
					beat(fleet, nodeName(i), nil)
				}
			}
			counts := make(map[string]int, nodes)
			for _, shard := range fleet.Shards {
				counts[shard.Holder]++
			}
			least, most := len(holders), 0
			for i := range nodes {
				least, most = min(least, counts[nodeName(i)]), max(most, counts[nodeName(i)])
			}
			if counts[""]+counts["+dead"] > 0 || most-least > 1 {
				t.Fatalf("%d nodes have %v, from %s", nodes, counts, start)
			}
			for i := range nodes {
				if beat(fleet, nodeName(i), nil) {
					t.Fatalf("%d nodes do not come to rest: %v, from %s", nodes, counts, start)
				}
			}
		}
	}
}

func nodeName(i int) string { return fmt.Sprintf("node_%02d", i) }

// beat is one of a node; with dice it gives up some of its excess only, as if the
// rest were busy. It reports whether anything changed.
func beat(fleet webhookstore.Fleet, node string, dice *rand.Rand) (changed bool) {
	take, excess := webhooks.Share(node, fleet)
	for _, shard := range take {
		fleet.Shards[shard.Number].Holder, fleet.Shards[shard.Number].LeaseLeft = node, time.Second
		changed = true
	}
	for id := range excess {
		if dice == nil || dice.IntN(2) == 0 {
			fleet.Shards[id.Number].Holder = ""
			changed = true
		}
	}
	return changed
}
