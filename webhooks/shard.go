package webhooks

import "hash/fnv"

// DefaultShards is how many shards of each kind a database has unless its configuration says
// otherwise. More nodes than that share no more of the work.
const DefaultShards = 16

// ShardOf returns the number of the shard of a business's events, or of a webhook's
// deliveries, if there are so many shards.
func ShardOf(id string, shards int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // it never fails
	return int(h.Sum32() % uint32(shards))
}
