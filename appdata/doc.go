// Package appdata lets apps attach values of their own to the records of a
// business: a delivery note to an invoice, an outside number to a customer.
//
// # Fields
//
// An app declares a [Field] for each kind of value, for one type of record and
// under one key: [Service.DeclareField] and its neighbours, which a developer
// console calls. The field has a [Type] and rules. Type, key and type of record are
// for good; label and rules may change ([Service.ChangeField]). Values that were
// written before stay as they are, and are shown, until they are written again.
// Deleting a field takes its values away, everywhere and at once; a field that is
// declared again under the same key starts without any.
//
// # Values
//
// [Service.ListValues], [Service.PutValues] and [Service.DeleteValue] are handlers
// for a guard's routes, which need no scope of their own: what counts is the scope
// to read the record's type, see [Config].
//
//	only := apierror.AppDataForConnectedApps
//	guard.Route{Pattern: "GET /app-data", Scope: guard.AnyScope, AppsOnly: only, Handler: data.ListValues}
//	guard.Route{Pattern: "PUT /app-data", Scope: guard.AnyScope, AppsOnly: only, Handler: data.PutValues}
//	guard.Route{Pattern: "DELETE /app-data/{id}", Scope: guard.AnyScope, AppsOnly: only, Handler: data.DeleteValue}
//
// A PUT writes all of its values or none. A request is checked in this order: its
// form, access to the types, the fields, the values, the records. Numbers are checked
// and kept exactly as they were sent.
//
// A change records app_data.updated in the transaction of the change: {"values": […]}
// with those that a PUT added or changed, {"deleted": […]} for a DELETE. Writing a
// value that is there already, to the letter, changes nothing and records nothing.
// Neither does a deleted field, which is the developer's own act.
//
// # The end of values
//
// Values stay when the app is removed, and can be read again if it is reinstalled soon.
// They end in the transaction that records business.redact. From then on they cannot be
// read, even if the app is installed again. [Service.Run] deletes the rows, in small
// batches, and those of deleted fields. A host that deletes a record deletes no
// values: they can be read, and no longer written.
package appdata
