// Package events holds what happened in a business, as apps get to know of it.
//
// # Recording
//
// A host calls [Log.Record] with the transaction of the change, so that there is an
// event exactly when the change is there. That is one insert: it takes no lock that
// another transaction of the host's could wait for.
//
// # The catalog
//
// A [Catalog] says which events there are, and for each one its audience, the scope
// that gates it and a sample of its data. [DefaultCatalog] is that of an accounting
// service; a host can have its own ([NewCatalog]). [Definition.Check] decides which
// app may see what, here and wherever else events are told.
//
// Data is recorded in the shape of the newest API version. A definition knows how
// it looked in earlier ones ([Shape]), and each app gets the shape of its version.
//
// # The Events API
//
// [Log.List] and [Log.Get] are handlers for a guard's routes:
//
//	guard.Route{Pattern: "GET /events", Scope: "events:read", AppsOnly: apierror.EventLogForConnectedApps, Handler: log.List}
//	guard.Route{Pattern: "GET /events/{id}", Scope: "events:read", AppsOnly: apierror.EventLogForConnectedApps, Handler: log.Get}
//
// Pages go from oldest to newest, and any event of the business is a cursor. Who
// follows them gets every event that it may see exactly once, also while others
// write: an event gets its number when it has committed, one business at a time, and
// what commits later gets a greater number. So nothing ever lands before a cursor,
// however long its transaction took.
//
// Events are kept for [Retention]; [Log.Run] removes them.
package events
