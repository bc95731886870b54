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
// A [Catalog] lists the events, and for each event its audience, the scope
// that gates it and a sample of its data. [DefaultCatalog] is the catalog of an accounting
// service; a host can have its own ([NewCatalog]). [Definition.Check] decides which
// app may see an event, both here and in webhooks.
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
// Pages go from oldest to newest, and any event of the business is a cursor. An app
// that follows the pages gets every event that it may see exactly once, even during
// writes: an event gets its number after it has committed, one business at a time, and
// an event that commits later gets a greater number. So no event is ever inserted
// before a cursor, however long its transaction took.
//
// Events are kept for Config.Retention; [Log.Run] removes them.
package events
