//go:build !linux

package postgres

import "syscall"

// limitUnacknowledged leaves the limit to the operating system.
func limitUnacknowledged(string, string, syscall.RawConn) error { return nil }
