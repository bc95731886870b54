// Package crash kills the reference server and the services it depends on, and checks
// the server against the responses and deliveries that clients and receivers got.
package crash
