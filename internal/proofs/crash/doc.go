// Package crash kills the reference server and what it stands on, and judges what clients and receivers were told.
package crash
