// Package nodes runs the reference server as several processes on one PostgreSQL and one Redis.
package nodes
