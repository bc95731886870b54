// Package sqlite stores everything in one SQLite file, for one process.
//
// [Open] returns a store that writes through one connection and reads through several others, in
// WAL mode with synchronous=FULL: acknowledged writes survive a power loss. Operations that wait
// for the write connection at the same time are committed together, so that they share the cost
// of one fsync. Each operation is still atomic, and returns only after the commit. Close the
// store after everything that uses it has stopped.
//
// Only one process can open a file at a time; it holds a lock on a file beside the database. A
// second process gets [storage.ErrInUse]. Use PostgreSQL for several nodes. The host may open its
// own connections to the same file in the same process, for example with the driver of
// modernc.org/sqlite.
//
// Values are those of SQLite: integers, floating point numbers, text, bytes and NULL. Booleans
// are 0 and 1. A time.Time is rejected; store text, or a number as this module's tables do.
package sqlite
