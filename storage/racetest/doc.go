// Package racetest runs concurrent store operations through the interleavings of their SQL
// statements and checks every result.
//
// Each contender performs one operation on its own node. Its database connection stops
// before every statement and before every commit. The explorer releases one contender at a
// time. The released contender runs to its next stop, to its end, or into a lock that
// another contender holds; PostgreSQL's pg_blocking_pids reports the last case. Every point
// at which more than one contender could go on is a choice, and a depth-first search
// repeats the run until every combination of choices has been made. After each run the
// package reads the rows with plain SQL and through the store, and checks these rules:
//   - each artifact has one winner
//   - no token outlives the app, installation, consent or family that was ended
//   - rows written by one transaction are all there or all missing
//   - every operation returns one of its documented answers
//   - the result equals the result of some serial order of the operations
//
// Operations race with those that change the same things: the operations of OAuth with each
// other, the operations on one idempotency key, and the operations on one app: its data and
// what developers and reviewers change about it. The latter two have only the last two
// rules, and all rows of their app count as the result.
//
// A driver's test calls [Run] beside storetest.Run, and a second time if the driver can
// share transactions between operations. [Explore] runs one combination of operations, to
// study a race more closely.
package racetest
