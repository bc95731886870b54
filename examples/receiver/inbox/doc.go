// Package inbox does what a receiver of webhooks needs beyond checking the signature: it
// stores an event before it responds to the sender, processes it afterwards, detects
// duplicates, and fetches the events that never arrived.
//
// # Crashes
//
// The inbox is one SQLite file, written through to the disk. Whenever the process
// dies, an event is in one of three places:
//
//   - not yet kept: the sender got no 2xx, and sends it again;
//   - kept, but not worked on: [Inbox.Run] does it after the next start;
//   - worked on, but not yet marked: the work is done a second time.
//
// So work happens at least once. Make it repeatable: an upsert under the event's
// id, an Idempotency-Key made from it.
package inbox
