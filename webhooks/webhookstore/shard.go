package webhookstore

import (
	"hash/fnv"
	"time"
)

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

// Fleet is the nodes on one database.
type Fleet struct {
	Nodes  int // that live
	Shards []Shard
}

// ShardKind is what the holder of a shard does.
type ShardKind string

// The kinds of shards. A database has as many of one as of the other.
const (
	PlanShard ShardKind = "plan" // it turns the events of some businesses into deliveries
	SendShard ShardKind = "send" // it sends the deliveries of some webhooks
)

// ShardID names a shard. The shards of a kind are numbered from 0.
type ShardID struct {
	Kind   ShardKind
	Number int
}

// Shard is a part of the work.
type Shard struct {
	ShardID
	Holder    string // empty: free
	Epoch     int64
	LeaseLeft time.Duration // when it was read; not above 0: the lease has ended
}
