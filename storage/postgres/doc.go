// Package postgres keeps everything in a PostgreSQL database, for any number of
// processes.
//
// [Open] connects by URL; [New] uses the host's own *sql.DB with any driver. Operations
// that PostgreSQL aborts with a serialization failure or a deadlock are retried a few
// times. A commit whose result was lost is never repeated.
//
// With pgx and a direct connection, processes notify each other with LISTEN and
// NOTIFY. With another driver or behind a pooler they poll instead, about once a
// second, which is logged.
package postgres
