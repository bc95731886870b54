// Package postgres stores everything in a PostgreSQL database, for any number of processes.
//
// [Open] connects by URL; [New] uses the host's own *sql.DB with any driver. Operations that
// PostgreSQL aborts with a serialization failure or a deadlock are retried a few times. A commit
// whose result was lost is never repeated.
//
// While the store's Run runs, processes that use pgx and direct connections notify each other of
// new work with LISTEN and NOTIFY. With another driver or behind a pooler they only poll: about
// once a second for new events and due deliveries. This is logged. [Config.DirectURL] goes past a
// pooler.
//
// Behind PgBouncer in transaction mode, whatever its version, the store of [Open] finds out
// whether prepared statements work, and does without them if not. A host that opens its own
// *sql.DB there sets default_query_exec_mode=cache_describe in its URL.
//
// Close the store after everything that uses it has stopped. Close of a store that New returned
// does not close the host's *sql.DB.
package postgres
