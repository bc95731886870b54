// Package grown is the platform on a database with as many rows as a service has after
// a while: for measuring what work costs then, and for looking at the plans of its
// statements.
//
// The rows are made by plain SQL. Half of all events, deliveries and values belong to one
// business, one webhook and one space, so that the greatest of them grows with the whole;
// the other half is spread. Half of the deliveries are queued, of which one in four is not
// due yet. No row is older than 25 days.
package grown
