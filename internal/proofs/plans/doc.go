// Package plans holds the test that looks at the plans of the statements which the
// platform sends, on a database that has grown: no statement of what is done often walks
// through a table that grows.
package plans
