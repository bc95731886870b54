// Package racetest runs concurrent store operations through the interleavings of their SQL
// statements and checks every result.
//
// Each contender performs one operation on its own node. Its database connection stops
// before every statement and before every commit. The explorer releases one contender at a
// time. The released contender runs to its next stop, to its end, or into a lock that
// another contender holds; PostgreSQL's pg_blocking_pids reports the last case. Every point
// at which more than one contender could go on is a choice, and a depth-first search
// repeats the run until every combination of choices has been made. After each run the
// package reads the rows with plain SQL and checks that
//   - every operation returned one of its documented results
//   - the operations did not wait for each other
//   - results and rows are those of some serial order of the operations
//
// So one of several wins, no token outlives what was ended, and no transaction is half done:
// that an operation is right when nothing races with it is checked by package storetest.
//
// Operations race with those that change the same things: the operations of OAuth with each
// other, those on one idempotency key, those on one app (its data and what developers and
// reviewers change about it), and those on the queue of events and deliveries.
//
// Its tests run it on SQLite and on PostgreSQL. [Explore] runs one combination of operations, to
// study a race more closely.
package racetest
