// Package storetest has the cases of the conformance suites for stores, and the tools that
// other tests share with them.
//
// [Run], [RunSQL] and [RunSending] are those of storage/storetest. testdb.SQLite and
// testdb.Postgres open databases, [NewEnv] a store with a tap below it. testdb.Race starts
// goroutines at the same moment, testdb.Tap counts the statements of an operation and makes the
// n-th one fail, and [EveryFault] does so for each n. [Operations] is the table of operations,
// each of which is prepared in a [Scene]: faults, cancelled contexts and package racetest perform
// them all.
package storetest
