package webhooks

import "hash/fnv"

// Shards is how many parts the queue has. Dispatchers share them among them.
const Shards = 16

// PlanShard is the part that turns events into deliveries.
const PlanShard = Shards

// ShardOf returns the shard of a webhook's deliveries.
func ShardOf(webhookID string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(webhookID)) // it never fails
	return int(h.Sum32() % Shards)
}
