// Package webhooks turns recorded events into deliveries, one for each webhook that may see
// the event, and sends each delivery until it arrives or has failed for good.
//
// # Deliveries
//
// A delivery is one event on its way to one webhook. Its id and body never change. Its status:
//
//	queued ───┬── 2xx ──────────────────────► delivered
//	          │
//	retrying ─┼── not 2xx, attempts left ───► retrying
//	          ├── not 2xx, last attempt ────► failed
//	          └── gate closed ──────────────► failed
//
//	failed ────── Redeliver ────────────────► queued
//
// An attempt succeeds if the response is a 2xx within [AttemptTimeout]. A failed attempt is
// repeated after the next of [Options].RetryDelays; after the last delay the delivery has
// failed. The gates are conditions: the webhook exists and is enabled, the app is active and
// installed in the business, and app and installation have the scope of the event. They are
// checked when an event is planned and again before each attempt. A delivery whose gate is
// closed fails without being sent. [Service.Redeliver] queues a failed delivery again, with the
// same id and body, and [Service.AttemptNow] moves the next attempt of a retrying one to now.
//
// # Health
//
// A webhook is failing while its newest attempt has failed and none has succeeded in the hour
// before it ([partner.WebhookHealth]). A webhook of which some attempts fail and others succeed is degraded:
//
//	working ───── attempt failed, none succeeded for an hour ──► failing
//	failing ──┬── attempt succeeded ───────────────────────────► working
//	          └── failing for DisableAfter ────────────────────► switched off
//	switched off ── switched on in the console ────────────────► working
//
// Health is derived from the recorded attempts, so it is the same on every node. The
// notification webhook.failing is sent when a webhook begins to fail, and webhook.recovered
// when an attempt succeeds again. A webhook is switched off only if [Options].DisableAfter is
// set, no attempt has succeeded for that time and at least two deliveries have failed for good.
//
// # Planning
//
// A recorded event is in the outbox until all its deliveries are made. Businesses with events
// there take turns: a plan is one transaction for the next events of some of them, which gives
// the events their numbers, adds their deliveries and takes them out of the outbox. It is
// bounded, so that one business with very many events does not delay others. Deliveries wait in a
// queue of their webhook, ordered by due time.
//
// # Shards, leases and epochs
//
// Businesses are divided into plan shards and webhooks into send shards, by a hash of their
// ids; how many there are of each kind is set when the database is made. Each shard has at most
// one holder. Only the holder plans the events of the businesses, or sends the deliveries of
// the webhooks. Nodes share the shards of each kind equally, so that all of them plan and send.
//
// A holder has a lease, which it renews when a quarter of it is over. When a node dies its leases end, and the other
// nodes take its shards. Each change of the holder increments the epoch of the shard. An
// plan carries the epochs of its businesses' shards, and an outcome the epoch under which its
// delivery was claimed. Both are rejected if the epoch has changed: a node that resumes too
// late plans and records nothing.
//
// # News
//
// A plan also writes one entry of news, which names the webhooks that got deliveries. The
// entries of a plan shard are numbered under its row, so that they become visible in their
// order: a dispatcher reads each of them once, whatever the clocks of the nodes say and
// however late a transaction commits. Attempts to repeat are found by when they are due. A
// node that takes a shard looks once at every webhook that has deliveries queued.
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
