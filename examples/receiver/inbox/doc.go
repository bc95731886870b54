// Package inbox is what a receiver of webhooks needs beyond the signature: it
// keeps an event before the sender is told that it arrived, works on it
// afterwards, knows it again when it comes twice, and fetches what never came.
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
