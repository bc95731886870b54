// Package postgres keeps everything in a PostgreSQL database, for any number of
// processes.
//
// [Open] connects by URL; [New] uses a *sql.DB of the host's, with whatever
// driver it has. Acts that PostgreSQL refuses because they met another, a
// serialization failure or a deadlock, run again, a few times. A commit whose
// answer was lost is never repeated.
//
// With pgx and a direct connection, processes tell each other about news with
// LISTEN and NOTIFY. Behind another driver or a pooler they look by themselves
// instead, about once a second; the log says so.
package postgres
