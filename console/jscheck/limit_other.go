//go:build !linux && !darwin

package jscheck

// limitProcess does nothing: the Timeout of the Checker ends the process.
func limitProcess() error { return nil }
