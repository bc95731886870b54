// Package storetest certifies stores.
//
// A test of a [partnerkit.Store] calls [Run] with a function that opens an empty one. The
// suite calls the methods of the interface and nothing else. It checks what each operation
// does, that a race has one winner, that limits hold, that what was ended stays ended, and
// that a cancelled context leaves nothing half-done. docs/store.md lists the promises.
//
// A test of a database under sqlstore calls [RunSQL] as well. That suite checks the contract
// of storage.DB, host transactions, the rows that operations leave, their costs and query
// plans, and every operation with an error at each of its statements.
//
// The tools of the suites are for other tests too: [Race] releases contenders at
// one moment, [Tap] counts the statements of an operation and makes the n-th one fail,
// and [EveryFault] does so for each n in turn.
package storetest
