// Package webhooks turns recorded events into deliveries, one for each webhook that may see
// the event, and sends each delivery until it arrives or has failed for good.
//
// # Deliveries
//
// A delivery is one event on its way to one webhook. Its id and body never change. A single
// state machine decides its status:
//
//	                2xx
//	queued ───────────────────► delivered
//	  │  ▲                          ▲
//	  │  │ send again               │ 2xx
//	  │  └───────────── failed      │
//	  │ not 2xx           ▲         │
//	  ▼                   │ sixth attempt, or a gate closed
//	retrying ─────────────┴─────────┘
//
// The gates (webhook enabled, app active, app installed, scopes) are checked when an event
// is planned and again before each attempt.
//
// # Planning
//
// A planner reads recorded events in the order of their numbers and writes deliveries in
// bounded batches, which all businesses with unplanned events share. A cursor per business
// marks the last planned event. Deliveries wait in a queue of their webhook, ordered by due
// time.
//
// # Shards, leases and epochs
//
// Webhooks are divided into [Shards] by a hash of their ids. Each shard has at most one
// holder, and only the holder sends the shard's deliveries. One more shard, [PlanShard], is
// held by the node that plans.
//
// A holder has a lease, which it renews. When a node dies its leases end, and the other
// nodes take its shards. Each change of the holder increments the epoch of the shard. An
// outcome carries the epoch under which its delivery was claimed, and is rejected if the
// epoch has changed: a node that resumes too late records nothing.
//
// # The dispatcher
//
// Each node runs one dispatcher, a loop in one goroutine. Three parts hold its state, and
// none of them needs a database:
//
//	ownership   which shards the node holds, and which it must give up
//	scheduler   which webhooks have work, who is next, and how many attempts each may have
//	recorder    which outcomes are to be recorded, in batches
//
// One step of the loop renews the leases, looks for webhooks that have work, claims due
// deliveries for the free slots, sends them, and records the outcomes of those that ended:
//
//	database ──look──► scheduler ──claim──► attempt ──► recorder ──record──► database
//
// A delivery is outstanding from the moment it is claimed until its outcome is recorded.
// After a crash outstanding deliveries are sent again: a receiver may get a delivery more
// than once, and recognizes it by its id.
package webhooks
