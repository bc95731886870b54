//go:build !linux

package sqlitedriver

// syncData leaves it to SQLite.
func syncData(uintptr) (rc int32, isKnown bool) { return 0, false }
