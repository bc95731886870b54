// Package jsonapi reads the queries of the consoles' calls, and writes their lists.
package jsonapi
