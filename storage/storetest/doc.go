// Package storetest is the suite that every database under the store must pass.
//
// A test of a database calls [Run] with a function that opens an empty one. The
// suite checks the contract of storage.DB, acts that stand or fall alone, joined
// transactions, cancellation, faults, and then every act of every feature on top
// of it.
//
// The tools of the suite are for other tests too: [Race] releases contenders at
// one moment, [Tap] counts the statements of an act and makes the n-th one fail,
// and [EveryFault] does so for each n in turn.
package storetest
