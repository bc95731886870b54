// Package guard stands in front of a host's handlers and opens some of them to
// partner apps.
//
// [Idempotency] makes their writes safe to repeat.
package guard
