// Package events records changes in a business as events and shows them to apps.
//
// A [partner.Event] belongs to one business and has a type from a [Catalog], such as
// invoice.created, and data. Events never change. A [Log] records and lists them; package webhooks sends them.
//
// # Recording
//
// A host calls [Log.RecordIn] with the transaction of the change, so that the event exists exactly
// if the change was committed. [Log.Record] uses a transaction of its own. Recording is one
// insert. It takes no lock that another transaction of the host could wait for.
//
// # The catalog
//
// A [Catalog] lists the events, and for each event its audience, the scope that is required to
// see it and a sample of its data. [DefaultCatalog] is the catalog of an accounting service; a
// host can have its own ([NewCatalog]). [Definition.IsVisible] decides which app may see an event,
// both here and in webhooks.
//
// Data is recorded in the shape of the newest API version. A definition can convert it to the
// shape of earlier versions ([Shape]), and each app gets the shape of its version.
//
// # The Events API
//
// [Log.List] and [Log.Get] are handlers for a guard's routes:
//
//	only := apierror.Entry{Code: "EVENT_LOG_AVAILABLE_CONNECTED_APPS_ONLY", Status: 403, Message: "the event log is open to connected apps only"}
//	guard.Route{Pattern: "GET /events", Scope: "events:read", AppsOnly: only, Handler: log.List}
//	guard.Route{Pattern: "GET /events/{id}", Scope: "events:read", AppsOnly: only, Handler: log.Get}
//
// Pages go from oldest to newest, and any event of the business is a cursor. An app that follows
// the pages gets every event that it may see exactly once, even during writes: an event gets its
// number after it has committed, one business at a time, and an event that commits later gets a
// greater number. So no event is ever inserted before a cursor, however long its transaction
// took. Log.List and the planner of package webhooks assign the numbers.
//
// Events are kept for [Config.Retention]; [Log.Run] deletes older ones.
//
// # Notifications
//
// [Notifications] is a bounded queue of messages for the host's staff, such as a reused refresh
// token. Features add to it after a change has committed and never wait for it.
// [Notifications.Run] calls the host's [Notifier] in its own goroutine, again if a call fails.
// When the queue is full, or calls have failed for an hour, notifications are dropped and
// counted.
package events
