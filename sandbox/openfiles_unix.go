//go:build unix

package sandbox

import (
	"math"
	"syscall"
)

// openFiles returns how many files the process may open at a time. Go's runtime has raised
// the soft limit to the hard one.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return defaultOpenFiles
	}
	return int(min(limit.Cur, math.MaxInt32))
}
