// Package storetest is the conformance suite for stores.
//
// To test an implementation of [partnerkit.Store], call [Run] with a function that opens an
// empty store. The suite uses only the methods of the interface. It checks the effect of
// each operation, that exactly one of several concurrent operations wins, that limits hold,
// that revoked records stay revoked, and that an operation whose context is cancelled has
// happened completely or not at all. docs/store.md lists these requirements.
//
// To test a database under sqlstore, call [RunSQL] too. It checks the contract of
// storage.DB, transactions of the host, the rows that operations leave, the number of their
// statements and the query plans, and runs every operation with an error at each of its
// statements.
//
// Other tests can use the tools of the suites: [Race] starts goroutines at the same moment,
// [Tap] counts the statements of an operation and makes the n-th one fail, and
// [EveryFault] does so for each n.
package storetest
