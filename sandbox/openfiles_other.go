//go:build !unix

package sandbox

// openFiles returns how many files the process is taken to open at a time, where the
// operating system sets no limit.
func openFiles() int { return defaultOpenFiles }
