// Package sqlite keeps everything in one SQLite file, for one process.
//
// [Open] gives a store that writes through one connection and reads through a
// few others, in WAL mode with synchronous=FULL: what was answered survives a
// loss of power. Acts that wait for the connection at the same time are
// committed together, so that many writers share the price of one fsync; each
// act is still atomic by itself and is answered only after the commit.
//
// A file belongs to one process at a time, which holds a lock on a file beside
// it. A second one is refused with [storage.ErrInUse]; several nodes need
// PostgreSQL. The host may open connections of its own to the same file from
// the same process, with the driver of modernc.org/sqlite for one.
//
// Values are what SQLite has: integers, floating point numbers, text, bytes and NULL, and
// truth as 0 and 1. A time.Time is refused; store text, or a number as our tables do.
package sqlite
