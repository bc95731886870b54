// Package appdata lets apps attach values of their own to the records of a business: a tracking
// number to an invoice, an external id to a customer.
//
// # Fields
//
// An app declares a [valuestore.Field] for each kind of value, for one type of record and under one key.
// Its developer does so in the developer console, which calls [Service.DeclareField]. The field
// has a [valuestore.Type] and rules. Type, key and type of record are final; label and rules may change
// ([Service.ChangeField]). Changed rules do not affect existing values, which are checked when
// they are written again. Deleting a field removes its values everywhere and at once. A field
// that is declared again under the same key starts without values.
//
// # Values
//
// [Service.ListValues], [Service.PutValues] and [Service.DeleteValue] are handlers for a guard's
// routes. The routes need no scope of their own: the app must have the scope to read the type of
// the record, see [Config].
//
//	only := apierror.Entry{Code: "APP_DATA_API_AVAILABLE_CONNECTED_APPS_ONLY", Status: 403, Message: "app data is open to connected apps only"}
//	guard.Route{Pattern: "GET /app-data", Scope: guard.AnyScope, AppsOnly: only, Handler: data.ListValues}
//	guard.Route{Pattern: "PUT /app-data", Scope: guard.AnyScope, AppsOnly: only, Handler: data.PutValues}
//	guard.Route{Pattern: "DELETE /app-data/{id}", Scope: guard.AnyScope, AppsOnly: only, Handler: data.DeleteValue}
//
// A PUT writes all of its values or none. A request is checked in this order: its form, access
// to the types, the fields, the values, the records. Numbers are stored exactly as they were
// sent.
//
// A change records the event app_data.updated in the same transaction: {"values": […]} with the
// values that a PUT added or changed, {"deleted": […]} for a DELETE. Writing a value that is
// identical to the stored one changes nothing and records no event. Deleting a field records no
// event either.
//
// # The end of values
//
// Values are kept when the app is uninstalled, and can be read again if it is reinstalled before
// business.redact. They end in the transaction that records business.redact. From then on they
// cannot be read, even if the app is installed again. [Service.Run] deletes the rows of ended
// values and of deleted fields, in small batches. When a host deletes a record, its values can
// still be read and deleted, but not written.
package appdata
